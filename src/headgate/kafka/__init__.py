"""Kafka clusters: what their brokers tell of topics and of consumer groups."""
