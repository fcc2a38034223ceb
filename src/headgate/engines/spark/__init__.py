"""Spark: applications of Structured Streaming queries, observed and scaled from inside their driver or from outside."""
