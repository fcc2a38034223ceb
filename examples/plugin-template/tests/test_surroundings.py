"""Event handler, state store and signal source keep Headgate's contracts."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from headgate.model.samples import Signal
from headgate.model.state import JobState
from headgate.ports import Missing
from headgate.testing.builders import ORDERS, context
from headgate.testing.conformance.event_handler import Heard, RemoteEventHandlerSuite
from headgate.testing.conformance.signal_source import PRESENT, SignalSourceSuite, SignalStage
from headgate.testing.conformance.state_store import StateStoreSuite

from headgate_mill.events import JsonLinesEventHandler
from headgate_mill.signals import NumberFileSource
from headgate_mill.store import AuditedStateStore


class EventFile:
    """A handler and the file that it appends to, in a directory that may be gone."""

    def __init__(self, directory: Path) -> None:
        """Begin with an empty directory."""
        self._mounted, self._away = directory / "events", directory / "away"
        self._mounted.mkdir()
        self.handler = JsonLinesEventHandler({"path": str(self._mounted / "events.jsonl")})

    def heard(self) -> Sequence[Heard]:
        """Read the file."""
        path = self._mounted / "events.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [_heard(json.loads(line)) for line in lines]

    def go_silent(self) -> None:
        """Take the directory away."""
        self._mounted.rename(self._away)

    def come_back(self) -> None:
        """Bring it back."""
        self._away.rename(self._mounted)


def _heard(line: dict[str, str]) -> Heard:
    return Heard(
        key=line["key"],
        reason=line["reason"],
        subject=line["subject"],
        message=line["message"],
        identity=f"{line['key']} {line['at']}",
    )


class TestJsonLinesEventHandler(RemoteEventHandlerSuite):
    """The contract."""

    @pytest.fixture
    def stage(self, tmp_path: Path) -> EventFile:
        """Give a handler and its file."""
        return EventFile(tmp_path)


class TestNumberFileSource(SignalSourceSuite):
    """The contract."""

    @pytest.fixture
    def stage(self, tmp_path: Path) -> SignalStage:
        """Write one number."""
        (tmp_path / f"{PRESENT}.txt").write_text("12.5")
        return SignalStage.of(NumberFileSource({"directory": str(tmp_path)}), value=12.5)

    @pytest.fixture
    def broken(self, tmp_path: Path) -> NumberFileSource:
        """Look where nothing is."""
        return NumberFileSource({"directory": str(tmp_path / "gone")})


class TestAuditedStateStore(StateStoreSuite):
    """The contract."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> AuditedStateStore:
        """Give an empty store."""
        return AuditedStateStore({"path": str(tmp_path / "audit.log")})


def test_a_change_leaves_a_line(tmp_path: Path) -> None:
    """With the job and its version."""
    store = AuditedStateStore({"path": str(tmp_path / "audit.log")})
    store.save(ORDERS, JobState(), 0)
    store.forget(ORDERS)
    (saved, forgotten) = (tmp_path / "audit.log").read_text().splitlines()
    assert saved.endswith("prod/orders is at version 1 and wants nothing")
    assert forgotten.endswith("prod/orders is forgotten")


async def test_a_file_is_a_signal(tmp_path: Path) -> None:
    """As old as the file; one that is not there, or holds no number, is missing with the reason."""
    (tmp_path / "price.txt").write_text("0.31\n")
    (tmp_path / "odd.txt").write_text("nan")
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    os.utime(tmp_path / "price.txt", (noon.timestamp(), noon.timestamp()))
    found = await NumberFileSource({"directory": str(tmp_path)}).query(context(), ["price", "odd", "gone"])
    assert found["price"] == Signal(value=0.31, measured_at=noon)
    assert found["odd"] == Missing(why="odd.txt holds nan, which is no number")
    assert isinstance(found["gone"], Missing)
