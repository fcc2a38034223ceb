"""
The data pipeline: Spark reduces windows of the samples log, and whole fleets are evaluated as arrays over what is left.

`in_process` does the same without Spark or log, for a few jobs; it must not import pyspark.
"""
