"""
Every operation on the storage that holds the log: a directory, or a bucket of an object store.

In both a file appears whole under its name or not at all, and what is created is created by one process only; whatever
else the log promises rests on these two.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from headgate.options.service import LogOptions
from headgate.samplelog import bucket, directory
from headgate.samplelog.bucket import ObjectPath
from headgate.samplelog.directory import HIDDEN

Address = Path | ObjectPath
"""Names a file or a folder, in a directory or in a bucket."""


def root_of(log: LogOptions) -> Address:
    """
    Give where a log stands; nothing is contacted.

    Raises:
        ConfigError: it stands in a bucket, and what reads such is not installed.
    """
    return log.directory or bucket.root_at(log.path, log.endpoint)


def tried(root: Address) -> str | None:
    """
    Find out whether a log could stand there, by a file that does not stay.

    Returns:
        What its storage does not do that the log rests on; None if all is well.

    Raises:
        OSError: it could not be written, read or listed.
    """
    file = root / f"{HIDDEN}tried-{secrets.token_hex(4)}"
    create_text(file, "once")
    try:
        if create_text(file, "twice"):
            return "a file that is there was created again: uploads do not heed `If-None-Match: *`"
        read_text(file)
        names(root)
    finally:
        remove([file])
    return None


def write_whole(file: Address, write: Callable[[Path], None]) -> None:
    """
    Let `write` fill a file elsewhere, then give it its name durably; a file of that name is replaced.

    Raises:
        OSError: it could not be written; a file that had the name before is untouched.
    """
    if isinstance(file, Path):
        directory.write_whole(file, write)
    else:
        bucket.write_whole(file, write)


def create_text(file: Address, text: str) -> bool:
    """
    Make a small file unless there is one of that name; of many who try at once, one succeeds.

    Returns:
        Whether it was made.

    Raises:
        OSError: it could not be written.
    """
    return directory.create_text(file, text) if isinstance(file, Path) else bucket.create_text(file, text)


def read_text(file: Address) -> str:
    """
    Give a file's text.

    Raises:
        FileNotFoundError: there is no such file.
        OSError: it could not be read.
    """
    return file.read_text(encoding="utf-8") if isinstance(file, Path) else bucket.read_text(file)


@contextmanager
def opened(file: Address) -> Iterator[Path | IO[bytes]]:
    """
    Give what pyarrow can read a file from.

    Raises:
        FileNotFoundError: there is no such file.
        OSError: it could not be read.
    """
    if isinstance(file, Path):
        yield file
    else:
        with bucket.opened(file) as source:
            yield source


def exists(file: Address) -> bool:
    """Tell whether there is a file of that name."""
    return file.exists() if isinstance(file, Path) else bucket.exists(file)


def names(folder: Address) -> list[str]:
    """List a folder's visible names in order; a folder that does not exist is empty."""
    return [*filter(_is_visible, _all_names(folder))]


def listing(folder: Address) -> Mapping[str, list[str]]:
    """List for each visible folder in a folder what `names` lists in it, in as few calls as the storage allows."""
    if not isinstance(folder, Path):
        return {name: [*filter(_is_visible, found)] for name, found in bucket.listing(folder).items()}
    return {name: names(folder / name) for name in names(folder)}


def hidden(folder: Address) -> list[Address]:
    """List what is unfinished in a folder."""
    return [folder / name for name in _all_names(folder) if not _is_visible(name)]


def remove(addresses: Iterable[Address]) -> None:
    """Remove files, or whole folders of a directory; what is gone already is no error."""
    inside: list[ObjectPath] = []
    for address in addresses:
        if isinstance(address, Path):
            directory.remove(address)
        else:
            inside.append(address)
    bucket.remove(inside)


def held(lock: Address) -> AbstractContextManager[bool]:
    """
    Hold a lock; yields False if another process has it.

    In a directory the system gives it back when the process dies. In a bucket it is worth nothing some time after it
    was taken, so two may hold it once in a while: it saves double work, and nothing else may rest on it.
    """
    return directory.held(lock) if isinstance(lock, Path) else bucket.held(lock)


def _is_visible(name: str) -> bool:
    return not name.startswith(HIDDEN)


def _all_names(folder: Address) -> list[str]:
    return directory.names(folder) if isinstance(folder, Path) else bucket.names(folder)
