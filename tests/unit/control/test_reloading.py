"""What is told when Headgate's own file changes, and what it changes for the running service."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.config.reload import LiveOptions, Reload
from headgate.control.reloading import Reloading, reload_report
from headgate.model.events import EventReason, EventType
from headgate.testing.fakes import RecordingEvents

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
FILE = "clusters: [{name: local, url: 'http://127.0.0.1:9'}]\nmode: advise\n"


def write(path: Path, text: str) -> None:
    """Write a file."""
    path.write_text(text)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give the path of a good file."""
    path = tmp_path / "headgate.yaml"
    path.write_text(FILE)
    return path


@pytest.fixture
def listener() -> RecordingEvents:
    """Give a handler that was told nothing yet."""
    return RecordingEvents()


@pytest.fixture
def reloading(file: Path, listener: RecordingEvents) -> Reloading:
    """Give what is awaited before each cycle, an hour after the file was written."""
    return Reloading(
        live=LiveOptions(file, {}, {}), events=listener, clock=lambda: datetime.now(UTC) + timedelta(hours=1)
    )


async def test_a_change_is_one_event(reloading: Reloading, file: Path, listener: RecordingEvents) -> None:
    """With what changed and what has to wait; a file that stays as it is makes none."""
    await reloading(NOON)
    write(file, FILE.replace("advise", "act") + "state-store: memory\n")
    await reloading(NOON)
    await reloading(NOON)
    (event,) = listener.told
    assert (event.reason, event.type) == (EventReason.OPTIONS_RELOADED, EventType.WARNING)
    assert event.message == (
        "changed: mode advise -> act; needs a restart: state-store sqlite:///headgate.db -> memory"
    )
    assert event.fields == {"changed": 1, "needs_restart": 1, "faults": 0}


async def test_a_faulty_file_is_one_event_with_all_its_faults(
    reloading: Reloading, file: Path, listener: RecordingEvents
) -> None:
    """And what held still holds."""
    before = reloading.live.options
    write(file, FILE.replace("advise", "atc") + "nonsense: 1\n")
    await reloading(NOON)
    (event,) = listener.told
    assert (event.reason, event.type, event.fields["faults"]) == (EventReason.OPTIONS_REFUSED, EventType.WARNING, 2)
    assert "found 'atc'" in event.message
    assert "nonsense: unknown option" in event.message
    assert reloading.live.options is before


async def test_a_bug_costs_no_cycle(file: Path, listener: RecordingEvents) -> None:
    """It is told as a failure of the service, and the cycle goes on."""

    class Broken(LiveOptions):
        """Cannot do what it should."""

        def refresh(self, now: datetime) -> Reload | None:
            """Fail."""
            raise KeyError(now)

    await Reloading(live=Broken(file, dict(os.environ), {}), events=listener)(NOON)
    assert listener.reasons == [EventReason.AUTOSCALER_ERROR]


def test_a_change_that_changes_nothing_is_told_as_such() -> None:
    """A comment, for example, or a fault that was taken back."""
    event = reload_report(Reload(warnings=("an old name",)), NOON)
    assert event.type is EventType.NORMAL
    assert event.message == "changed: no option that can change while running; an old name"
