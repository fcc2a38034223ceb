"""
Headgate's own metrics, for Prometheus: heard from the running service, shown over HTTP.

Nothing here decides anything or asks an engine, and nothing is heard or shown unless `metrics.address` is set.
"""
