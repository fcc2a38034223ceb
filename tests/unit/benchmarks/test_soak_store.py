"""Where there is no PostgreSQL the soak's store is a file that goes away under a lock."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from benchmarks.soak_store import _LockedFile


async def test_a_locked_file_cannot_be_written_until_it_is_back(tmp_path: Path) -> None:
    """Whoever has it open meanwhile goes on afterwards."""
    door = _LockedFile(tmp_path / "state.db")
    assert door.url == f"sqlite:///{tmp_path / 'state.db'}"
    writer = sqlite3.connect(tmp_path / "state.db", timeout=0, isolation_level=None)
    writer.execute("CREATE TABLE kept (value)")
    door.hang()
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        writer.execute("INSERT INTO kept VALUES (1)")
    await door.restore()
    writer.execute("INSERT INTO kept VALUES (1)")
    writer.close()
