"""Plugins: found by entry points, chosen by option, kept from doing harm."""
