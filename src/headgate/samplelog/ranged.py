"""An object of an object store as a file, of which only those parts are fetched that are read."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obstore import GetOptions
    from obstore.store import ObjectStore

_AT_LEAST = 256 * 1024
"""Bytes a request: the whole of most files of a tick, and the end of a large one with all that tells of its parts."""


def ranged(store: ObjectStore, key: str) -> io.BufferedReader:
    """
    Open an object; one that is replaced while it is read is as good as gone.

    Raises:
        FileNotFoundError: there is none of that name.
    """
    return io.BufferedReader(_Ranges(store, key), _AT_LEAST)


class _Ranges(io.RawIOBase):
    """Begins with the end, which every reader of Parquet wants first."""

    def __init__(self, store: ObjectStore, key: str) -> None:
        end = store.get(key, options={"range": {"suffix": _AT_LEAST}})
        self._store = store
        self._key = key
        self._size: int = end.meta["size"]
        self._version = end.meta["e_tag"]
        self._end_from: int = end.range[0]
        self._end = bytes(end.bytes())
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, into: Any) -> int:
        until = min(self._at + len(into), self._size)
        count = max(0, until - self._at)
        if count:
            into[:count] = self._fetched(self._at, until)
        self._at += count
        return count

    def _fetched(self, begin: int, until: int) -> bytes:
        if begin >= self._end_from:
            return self._end[begin - self._end_from : until - self._end_from]
        part: GetOptions = {"range": (begin, until)}
        if self._version is not None:
            part["if_match"] = self._version
        return bytes(self._store.get(self._key, options=part).bytes())
