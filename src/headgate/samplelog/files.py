"""
Every operation on the file system that the log makes, so that another storage replaces this module alone.

A file appears whole under its name or not at all; a process killed at any instant leaves at most a hidden one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HIDDEN = "."
"""What is unfinished or condemned begins with it; readers do not see such names."""


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """
    Let `write` fill a hidden file, make it durable, then give it its name; a file of that name is replaced.

    Raises:
        OSError: it could not be written; a file that had the name before is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{HIDDEN}{path.name}.{os.getpid()}")
    try:
        write(unfinished)
        _flush(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    _flush(path.parent)


def write_text(path: Path, text: str) -> None:
    """Replace a small text file as a whole."""
    write_whole(path, lambda unfinished: _write_text(unfinished, text))


def read_text(path: Path) -> str | None:
    """Give a file's text, None if there is no such file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def names(folder: Path) -> list[str]:
    """List a folder's visible names in order; a folder that does not exist is empty."""
    return [name for name in _all_names(folder) if not name.startswith(HIDDEN)]


def hidden(folder: Path) -> list[Path]:
    """List what is unfinished or condemned in a folder."""
    return [folder / name for name in _all_names(folder) if name.startswith(HIDDEN)]


def remove(path: Path) -> None:
    """Remove a file or a whole folder; one that is gone already is no error."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Make a folder vanish at once for every reader, then remove what is in it."""
    condemned = folder.with_name(f"{HIDDEN}{folder.name}")
    remove(condemned)
    folder.replace(condemned)
    remove(condemned)


@contextmanager
def held(lock: Path) -> Iterator[bool]:
    """Hold a lock that the system gives back when the process dies; yields False if another process has it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    try:
        yield _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _all_names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return []


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
