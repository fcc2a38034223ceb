"""Spark's schemas, derived from the Arrow schemas of `model.tables`; nothing is declared here."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812 (the name everybody gives it)
from pyspark.sql.pandas.types import from_arrow_schema


def spark_schema(schema: pa.Schema) -> T.StructType:
    """
    Give an Arrow schema as Spark's; every column is nullable, as whatever is read from files is.

    Raises:
        pyspark.errors.PySparkTypeError: a column has a type that Spark does not know.
    """
    return from_arrow_schema(schema)
