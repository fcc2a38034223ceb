"""The directory in which a query keeps its offsets and its state, on any file system that Spark can write to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.sql import SparkSession

from headgate.engines.spark.attached.backend import translated
from headgate.errors import HeadgateError, PermanentError, RefusedError

SNAPSHOT = ".before-repartition"
"""What the name of a checkpoint's copy ends with; it lies beside the checkpoint."""

SPOILT = ".spoilt"
"""What the name of a checkpoint ends with whose copy was about to take its place."""

DELETE_SOURCE, RECURSIVELY = False, True


class Files(Protocol):
    """What is needed of a file system; `HadoopFiles` has it from the JVM, a test makes it up."""

    def exists(self, path: str) -> bool:
        """Tell whether something is there."""

    def copy(self, source: str, target: str) -> None:
        """Copy a directory with all that is in it."""

    def rename(self, source: str, target: str) -> None:
        """Give a directory another name."""

    def delete(self, path: str) -> None:
        """Delete a directory, if it is there."""


class UnrestoredError(PermanentError):
    """A checkpoint is not what it was, and could not be put back: no query may be started from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A copy of a checkpoint of which no query runs."""

    files: Files
    checkpoint: str

    @property
    def path(self) -> str:
        """Where it lies."""
        return self.checkpoint + SNAPSHOT

    def take(self) -> None:
        """
        Copy the checkpoint; what bears the name of a snapshot is a whole one.

        Raises:
            RefusedError: there is one: an earlier repartition did not end.
        """
        if self.files.exists(self.path):
            message = (
                f"{self.path} is left from a repartition that did not end. Hint: see whether the query runs with "
                "its checkpoint as it is, then delete it; else put it in the checkpoint's place"
            )
            raise RefusedError(message)
        partial = self.path + ".copying"
        self.files.delete(partial)
        self.files.copy(self.checkpoint, partial)
        self.files.rename(partial, self.path)

    def restore(self) -> None:
        """
        Put the copy in the place of the checkpoint.

        Raises:
            UnrestoredError: that failed; the copy is where it was, the checkpoint perhaps nowhere.
        """
        spoilt = self.checkpoint + SPOILT
        try:
            self.files.delete(spoilt)
            self.files.rename(self.checkpoint, spoilt)
            self.files.rename(self.path, self.checkpoint)
        except Exception as error:
            message = (
                f"{self.checkpoint} could not be put back as it was: {error}. Hint: start no query from it; its whole "
                f"copy is {self.path}, put that in its place"
            )
            raise UnrestoredError(message) from error
        with suppress(HeadgateError):
            self.files.delete(spoilt)

    def drop(self) -> None:
        """Delete the copy; one that cannot be deleted is in the way of the next, which says so."""
        partial = self.path + ".copying"
        with suppress(HeadgateError):
            self.files.rename(self.path, partial)
            self.files.delete(partial)


def leftovers(files: Files, checkpoint: str) -> Sequence[str]:
    """Name what a repartition left beside a checkpoint when it broke off: the checkpoint may be a new, empty one."""
    return [path for path in (checkpoint + SNAPSHOT, checkpoint + SPOILT) if files.exists(path)]


class HadoopFiles:
    """`Files` over Hadoop's API in the driver: local disks, HDFS and object stores."""

    def __init__(self, session: SparkSession) -> None:
        """Open nothing yet."""
        context: Any = session.sparkContext
        self._jvm = context._jvm  # noqa: SLF001 - PySpark has no file API
        self._configuration = context._jsc.hadoopConfiguration()  # noqa: SLF001

    def exists(self, path: str) -> bool:
        """Ask the file system."""
        with translated():
            system, place = self._place(path)
            found: bool = system.exists(place)
        return found

    def copy(self, source: str, target: str) -> None:
        """Read and write each file."""
        with translated():
            copied = self._jvm.org.apache.hadoop.fs.FileUtil.copy(
                *self._place(source), *self._place(target), DELETE_SOURCE, self._configuration
            )
        _confirm(f"{source} could not be copied to {target}", done=copied)

    def rename(self, source: str, target: str) -> None:
        """Ask the file system; an object store copies instead."""
        with translated():
            system, place = self._place(source)
            renamed = system.rename(place, self._place(target)[1])
        _confirm(f"{source} could not be renamed to {target}", done=renamed)

    def delete(self, path: str) -> None:
        """Delete it with all that is in it."""
        with translated():
            system, place = self._place(path)
            system.delete(place, RECURSIVELY)

    def _place(self, path: str) -> tuple[Any, Any]:
        """Give the file system and the path in it."""
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self._configuration), place


def _confirm(otherwise: str, *, done: bool) -> None:
    if not done:
        raise RefusedError(otherwise)
