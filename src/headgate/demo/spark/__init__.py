"""The demo of a Spark application: its load steps up and down, and two added lines let its executors follow."""
