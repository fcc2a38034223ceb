"""Headgate's plugins for Mill. `files` knows Mill's files; every other module is one plugin."""
