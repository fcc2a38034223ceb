"""Measurements, not tests: nothing here asserts a time. Run them with `make bench`."""
