"""Looks: each asks about one thing, changes nothing, and brings back facts, also where nothing answers."""
