"""Queries that run in micro-batches: what a batch costs, and the fewest cores on which batches keep up."""
