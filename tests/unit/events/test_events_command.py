"""`headgate events`."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.cli import app
from headgate.events.database import EventDatabase
from headgate.events.sql import SqlEventHandler
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.stores.connecting import connect

NOW = datetime.now(UTC)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Give a file whose events are kept in a table with three of them."""
    url = f"sqlite:///{tmp_path}/events.db"
    with closing(EventDatabase(connect(url, timedelta(seconds=5)))) as database:
        for minutes_ago, job in ((3000, "sales"), (10, "orders"), (5, "sales"), (4, "sales")):
            SqlEventHandler(database).handle(event(job, NOW - timedelta(minutes=minutes_ago)))
    path = tmp_path / "headgate.yaml"
    path.write_text(
        f"clusters: [{{name: local, url: 'http://127.0.0.1:9'}}]\nevents: {{handlers: [sql], sql.url: '{url}'}}\n"
    )
    return path


def event(job: str, at: datetime) -> Event:
    """Make an event that merges."""
    return Event(
        at=at,
        type=EventType.WARNING,
        reason=EventReason.AUTOSCALER_ERROR,
        message="no answer [yet]",
        key="down",
        subject=JobKey("local", job),
        fields={"took_s": 2.5},
        merge_interval=timedelta(minutes=30),
    )


def shown(config: Path, *arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["events", "--config", str(config), *arguments])


def test_the_last_day_is_shown_with_repetitions(config: Path) -> None:
    """One line each, oldest first."""
    lines = shown(config).stdout.splitlines()
    assert len(lines) == 2
    assert "AutoscalerError local/orders: no answer [yet]" in lines[0]
    assert "AutoscalerError local/sales, 2 times since" in lines[1]


def test_machines_get_one_object_a_line(config: Path) -> None:
    """Of one job, over as long as asked for."""
    result = shown(config, "sales", "--since", "3d", "--json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["count"] for one in found] == [1, 2]
    assert found[0]["subject"] == "local/sales"
    assert found[0]["fields"] == {"took_s": 2.5}
    assert datetime.fromisoformat(found[1]["last_at"]) == NOW - timedelta(minutes=4)


@pytest.mark.parametrize(
    ("since", "count"),
    [
        ("3d", 3),
        ("0", 0),
        (f"{NOW - timedelta(days=9):%Y-%m-%d}", 3),
        ((NOW - timedelta(minutes=7)).isoformat(), 1),
    ],
    ids=["duration", "now", "date", "instant"],
)
def test_the_begin_is_a_duration_or_a_date(config: Path, since: str, count: int) -> None:
    """A date without a time zone is UTC."""
    assert len(shown(config, "--since", since).stdout.splitlines()) == count


def test_a_begin_that_is_none_is_told(config: Path) -> None:
    """With what to write instead, and the status of a wrong call."""
    result = shown(config, "--since", "yesterday")
    assert result.exit_code == 2
    assert "--since: found 'yesterday'" in result.stderr


def test_where_no_events_are_kept_it_is_said_what_to_set(tmp_path: Path) -> None:
    """An empty answer would be a lie."""
    config = tmp_path / "headgate.yaml"
    config.write_text("clusters: [{name: local, url: 'http://127.0.0.1:9'}]\n")
    result = shown(config)
    assert result.exit_code == 2
    assert "events.handlers" in result.stderr
