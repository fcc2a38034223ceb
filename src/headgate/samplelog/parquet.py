"""Parquet files of the log: written with the schema's version inside, refused when a newer Headgate wrote them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headgate.errors import PermanentError, UnreachableError
from headgate.model.tables import SCHEMA_VERSION
from headgate.samplelog import files

_VERSION_KEY = b"headgate.schema-version"
_ROWS_A_GROUP = 1 << 18
"""Bounds the memory of a compaction, and is what Spark splits a file by."""


@contextmanager
def reported(what: str) -> Iterator[None]:
    """Turn whatever a storage raises into an `UnreachableError` that begins with what could not be done."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        message = f"{what}: {error}"
        raise UnreachableError(message) from error


def write(path: Path, table: pa.Table) -> None:
    """Write a whole table as one file."""
    files.write_whole(path, lambda unfinished: pq.write_table(table, unfinished, compression="zstd"))


def concatenate(path: Path, schema: pa.Schema, sources: Iterable[Path]) -> None:
    """Write the rows of many files, in their order, as one; never holds more than a row group and a source."""

    def write_groups(unfinished: Path) -> None:
        with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
            for group in _groups(sources, schema):
                writer.write_table(group, row_group_size=_ROWS_A_GROUP)

    files.write_whole(path, write_groups)


def read(path: Path, schema: pa.Schema, where: pc.Expression | None = None) -> pa.Table:
    """
    Read a file, or those of its rows that satisfy an expression.

    Columns that an older Headgate did not have yet are null.

    Raises:
        FileNotFoundError: it is gone.
        PermanentError: a newer Headgate wrote it.
    """
    check_version(path)
    return _completed(pq.read_table(path, filters=where, partitioning=None), schema).cast(schema)


def distinct(path: Path, column: str, where: pc.Expression) -> Collection[Any]:
    """
    Give the different values of one column in those rows of a file that satisfy an expression.

    Raises:
        FileNotFoundError: it is gone.
        PermanentError: a newer Headgate wrote it.
    """
    check_version(path)
    found = pq.read_table(path, columns=[column], filters=where, partitioning=None)
    return frozenset(found[column].unique().to_pylist())


def check_version(path: Path) -> None:
    """
    Refuse a file whose schema this Headgate does not know.

    Raises:
        FileNotFoundError: it is gone.
        PermanentError: a newer Headgate wrote it.
    """
    metadata = pq.read_schema(path).metadata or {}
    version = int(metadata.get(_VERSION_KEY, b"0"))
    if version > SCHEMA_VERSION:
        message = f"{path} has schema version {version}, this Headgate reads up to {SCHEMA_VERSION}. Hint: update it"
        raise PermanentError(message)


def _completed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    known = set(table.schema.names)
    for column in schema:
        if column.name not in known:
            table = table.append_column(column, pa.nulls(table.num_rows, column.type))
    return table.select(schema.names)


def _groups(sources: Iterable[Path], schema: pa.Schema) -> Iterable[pa.Table]:
    waiting: list[pa.Table] = []
    for source in sources:
        waiting.append(read(source, schema))
        if sum(table.num_rows for table in waiting) >= _ROWS_A_GROUP:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)
