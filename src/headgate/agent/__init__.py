"""Headgate inside of a PySpark application: `headgate.attach`, and what it puts together. It runs no Spark job."""
