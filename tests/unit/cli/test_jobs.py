"""`headgate jobs` and `headgate history`, from the words on the command line to what is printed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.algorithm.decide import decide
from headgate.cli import app
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, chain, evaluated, sample

GRAPH = chain({"source": 2, "agg": 2})
JOBS = (ORDERS, JobKey("prod", "payments"), JobKey("test", "payments"))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write the service's file, and what its last two cycles decided."""
    path = tmp_path / "headgate.yaml"
    path.write_text(
        f"clusters: [{{name: prod, url: 'http://127.0.0.1:1'}}]\nlog.path: {tmp_path}/log\n"
        f"state-store: sqlite:///{tmp_path}/headgate.db\n"
        f"events: {{handlers: [log, sql], sql.url: 'sqlite:///{tmp_path}/events.db'}}\n"
    )
    log, now = SampleLog(tmp_path / "log"), datetime.now(UTC)
    for tick in (now - timedelta(seconds=30), now):
        known = evaluated(GRAPH, {"agg": 3.0})
        log.append_decisions([decide(sample(GRAPH, job=job), known, AutoscalerOptions(), tick) for job in JOBS])
    return path


def call(*words: str | Path) -> Result:
    """Run `headgate`."""
    return CliRunner().invoke(app, list(map(str, words)))


def test_all_jobs_are_listed(config: Path) -> None:
    """One line each below the header, or those that a pattern picks."""
    assert len(call("jobs", "--config", config).stdout.splitlines()) == 1 + len(JOBS)
    assert len(call("jobs", "--config", config, "--filter", "prod/*").stdout.splitlines()) == 3
    assert call("jobs", "--config", config, "--filter", "dev/*").stdout == "none of 3 jobs is called so\n"


def test_a_machine_gets_a_line_a_job(config: Path) -> None:
    """And the notes beside it, where they are in nobody's way."""
    config.write_text(config.read_text().replace(f"sqlite:///{config.parent}/headgate.db", "memory"))
    told = call("jobs", "--config", config, "--json", "--sort", "name")
    assert [json.loads(line)["job"] for line in told.stdout.splitlines()] == sorted(map(str, JOBS))
    assert "the state store is `memory`" in told.stderr


def test_a_jobs_history_is_told(config: Path) -> None:
    """By its bare name, with what the log knows of it."""
    told = call("history", "orders", "--config", config)
    assert (told.exit_code, told.stderr) == (0, "")
    assert "prod/orders" in told.stdout.splitlines()[0]
    assert "rescaled agg 2 -> 7" in told.stdout
    (first, _) = (json.loads(line) for line in call("history", "orders", "-c", config, "--json").stdout.splitlines())
    assert (first["kind"], first["what"]) == ("rescale", "agg 2 -> 7")


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        (("history", "payments"), 1, "2 jobs are called 'payments'. Hint: write one of prod/payments, test/payments"),
        (("explain", "ordres"), 1, "no job is called 'ordres'. Hint: did you mean prod/orders?"),
        (("history", "orders", "--since", "yesterday"), 2, "--since: found 'yesterday'"),
        (("history", "orders", "--since", "999999999d"), 2, "longer ago than any date"),
        (("history", "nobody\x1b[2J"), 1, r"no job is called 'nobody\x1b[2J'"),
    ],
)
def test_a_wrong_call_is_answered_with_what_to_write(
    config: Path, words: tuple[str, ...], status: int, complaint: str
) -> None:
    """Nothing is guessed."""
    told = call(*words, "--config", config)
    assert told.exit_code == status
    assert complaint in told.stderr


def test_a_time_elsewhere_is_told_in_utc(config: Path) -> None:
    """As all times are."""
    told = call("history", "orders", "--config", config, "--since", "2026-01-01T01:00+02:00")
    assert "2025-12-31 23:00 to " in told.stdout.splitlines()[0]
