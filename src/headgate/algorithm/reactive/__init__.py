"""Reactive mode's rules: who gets which slots, what a job makes of them, and how many workers the need asks for."""
