"""Rescaling by replacing: a job is stopped with a savepoint, and another one is started from it, over REST alone."""
