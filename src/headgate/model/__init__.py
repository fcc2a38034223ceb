"""Frozen values that travel between the parts: topology, samples, windows, metrics, decisions, events."""
