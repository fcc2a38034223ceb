"""
Flink's metrics as a Prometheus server has scraped them: one query a metric and tick for all jobs of a cluster.

`server` asks, `queries` says what, `scrapes` sorts the answers by job, vertex and attempt, `reading` makes one of a
vertex's subtasks, `look` knows what is new, `tick` makes the samples, `workers` those of the cluster; `collector` is
the port. What Prometheus cannot tell, graph and settings, comes from Flink's REST as `engines.flink` reads it.
"""
