"""The log in a directory: files get their names by a rename, which a process killed at any instant has done or not."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HIDDEN = "."
"""What is unfinished, and the lock, begin with it; readers do not see such names."""


def write_whole(file: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a hidden file, make it durable, then give it its name; a file of that name is replaced."""
    with _unfinished(file, write) as unfinished:
        unfinished.replace(file)
    _flush(file.parent)


def replace_text(file: Path, text: str) -> None:
    """Write a small file as `write_whole` does."""
    write_whole(file, lambda unfinished: _write_text(unfinished, text))


def create_text(file: Path, text: str) -> bool:
    """Make a small file as a whole unless there is one of that name; tells whether it was made."""
    with _unfinished(file, lambda unfinished: _write_text(unfinished, text)) as unfinished:
        made = _link(unfinished, file)
    _flush(file.parent)
    return made


def names(folder: Path) -> list[str]:
    """List all names of a folder in order; one that does not exist, or is a file, is empty."""
    try:
        return sorted(path.name for path in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def remove(path: Path) -> None:
    """Remove a file or a whole folder; one that is gone already is no error."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


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


def _link(unfinished: Path, file: Path) -> bool:
    """Give a file its name unless that is taken: unlike a rename, a link never replaces."""
    try:
        file.hardlink_to(unfinished)
    except FileExistsError:
        return False
    except OSError:
        # Some network file systems know no links: there the lock alone keeps two processes apart.
        if file.exists():
            return False
        unfinished.replace(file)
    return True


@contextmanager
def _unfinished(file: Path, write: Callable[[Path], None]) -> Iterator[Path]:
    """Give a hidden file that was filled and made durable; it does not stay."""
    file.parent.mkdir(parents=True, exist_ok=True)
    # Not by the process id: two containers that share a volume may have the same.
    unfinished = file.with_name(f"{HIDDEN}{file.name}.{secrets.token_hex(8)}")
    try:
        write(unfinished)
        _flush(unfinished)
        yield unfinished
    finally:
        unfinished.unlink(missing_ok=True)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
