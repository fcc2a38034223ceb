"""
The samples log: append-only Parquet tables, one file a tick, hours compacted once they are closed.

Plain pyarrow on a local directory; Spark reads the same files, but is not needed to write, compact or explain.
"""
