"""
The data pipeline: windows of the samples log reduced on Spark, whole jobs evaluated as arrays inside it.

`in_process` does the same without Spark or log, for a few jobs; it must not import pyspark.
"""
