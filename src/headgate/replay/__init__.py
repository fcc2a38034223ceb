"""Decides again what was decided, from the log on Spark: with the same options the same, with others what would differ."""
