"""Apache Flink: what its REST interface tells, and how its jobs are changed."""
