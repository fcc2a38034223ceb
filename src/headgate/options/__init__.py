"""Typed options, each declared once with key, unit, range, default and meaning; the docs' reference is generated."""
