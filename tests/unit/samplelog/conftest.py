"""A log in each kind of storage."""

from __future__ import annotations

from pathlib import Path

import pytest
from obstore.store import MemoryStore

from headgate.samplelog.bucket import ObjectPath
from headgate.samplelog.files import Address


@pytest.fixture(params=["directory", "bucket"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Address:
    """Give the root of an empty log; the bucket is one in memory, tests/spark has a real one."""
    return tmp_path if request.param == "directory" else bucket_in_memory()


def bucket_in_memory() -> ObjectPath:
    """Give the root of an empty log in a bucket of its own."""
    return ObjectPath("memory://log", MemoryStore())
