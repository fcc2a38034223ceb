"""
Where downloaded and built things live between runs, outside the source tree.

An entry is a directory that is either complete or absent, also when two processes make it at the same time
or one is killed half-way.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_root() -> Path:
    """Return `$HEADGATE_CACHE`, else `$XDG_CACHE_HOME/headgate`, else `~/.cache/headgate`."""
    if own := os.environ.get("HEADGATE_CACHE"):
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared).absolute() if shared else Path.home() / ".cache") / "headgate"


def cached(name: str, fill: Callable[[Path], None]) -> Path:
    """
    Return the cache's directory of that name, made by `fill` if it is not there yet.

    Args:
        name: one path component; a different content needs a different name.
        fill: writes the content into the empty directory it is given. The directory is moved afterwards, so
            nothing in it may name its own place. What it raises leaves no entry behind.
    """
    entry = cache_root() / name
    if entry.is_dir():
        return entry
    entry.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=entry.parent))
    try:
        fill(unfinished)
        _publish(unfinished, entry)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return entry


def _publish(unfinished: Path, entry: Path) -> None:
    try:
        unfinished.rename(entry)
    except OSError:
        # A directory cannot replace one that holds something: another process was faster, its entry stands.
        if not entry.is_dir():
            raise
