"""Parquet files of the log: written with the schema's version inside, refused when a newer Headgate wrote them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headgate.errors import PermanentError, UnreachableError
from headgate.model.tables import SCHEMA_VERSION
from headgate.samplelog import files
from headgate.samplelog.files import Address

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


def write(path: Address, table: pa.Table) -> None:
    """Write a whole table as one file."""
    files.write_whole(path, lambda unfinished: pq.write_table(table, unfinished, compression="zstd"))


def concatenate(path: Address, schema: pa.Schema, sources: Iterable[Address]) -> None:
    """Write the rows of many files, in their order, as one; never holds more than a row group and a source."""

    def write_groups(unfinished: Path) -> None:
        with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
            for group in _groups(sources, schema):
                writer.write_table(group, row_group_size=_ROWS_A_GROUP)

    files.write_whole(path, write_groups)


def read(path: Address, schema: pa.Schema, where: pc.Expression | None = None) -> pa.Table:
    """
    Read a file, or those of its rows that satisfy an expression.

    Columns that an older Headgate did not have yet are null.

    Raises:
        FileNotFoundError: it is gone.
        PermanentError: a newer Headgate wrote it.
    """
    with files.opened(path) as source:
        _check_version(source, path)
        return _completed(_table(source, None, where), schema).cast(schema)


def distinct(path: Address, column: str, where: pc.Expression) -> Collection[Any]:
    """
    Give the different values of one column in those rows of a file that satisfy an expression.

    Raises:
        FileNotFoundError: it is gone.
        PermanentError: a newer Headgate wrote it.
    """
    with files.opened(path) as source:
        _check_version(source, path)
        return frozenset(_table(source, [column], where)[column].unique().to_pylist())


def columns(path: Address, names: Sequence[str] | None) -> pa.Table:
    """
    Read some columns of a file as they are; None stands for all.

    Raises:
        FileNotFoundError: it is gone.
    """
    with files.opened(path) as source:
        return _table(source, names, None)


def check_version(path: Address) -> None:
    """
    Refuse a file whose schema this Headgate does not know.

    Raises:
        FileNotFoundError: it is gone.
        PermanentError: a newer Headgate wrote it.
    """
    with files.opened(path) as source:
        _check_version(source, path)


def _check_version(source: Path | IO[bytes], path: Address) -> None:
    metadata = pq.read_schema(source).metadata or {}
    version = int(metadata.get(_VERSION_KEY, b"0"))
    if version > SCHEMA_VERSION:
        message = f"{path} has schema version {version}, this Headgate reads up to {SCHEMA_VERSION}. Hint: update it"
        raise PermanentError(message)


def _table(source: Path | IO[bytes], names: Sequence[str] | None, where: pc.Expression | None) -> pa.Table:
    return pq.read_table(source, columns=names, filters=where, partitioning=None)


def _completed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    known = set(table.schema.names)
    for column in schema:
        if column.name not in known:
            table = table.append_column(column, pa.nulls(table.num_rows, column.type))
    return table.select(schema.names)


def _groups(sources: Iterable[Address], schema: pa.Schema) -> Iterable[pa.Table]:
    waiting: list[pa.Table] = []
    for source in sources:
        waiting.append(read(source, schema))
        if sum(table.num_rows for table in waiting) >= _ROWS_A_GROUP:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)
