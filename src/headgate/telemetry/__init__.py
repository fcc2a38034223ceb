"""
Headgate's own metrics, for Prometheus, and its health, for probes: heard from the running service, shown over HTTP.

Nothing here decides anything or asks an engine, and nothing is heard or shown where `metrics.enabled` is false.
"""
