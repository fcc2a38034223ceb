"""A standalone cluster of this machine, on loopback, for demonstrations and tests."""
