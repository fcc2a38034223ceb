"""The demo of a job that reads Kafka: a real broker that is killed once, and a load that steps up and down."""
