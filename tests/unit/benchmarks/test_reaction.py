"""The comparison of reactions as a whole, over a minute of ten jobs: what is measured is not measured again."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from benchmarks import reaction, reaction_run
from benchmarks.reaction_loads import Course
from benchmarks.reaction_results import calm, compared
from benchmarks.reaction_run import FAST, Part, measured, options_of

from headgate.options.autoscaler import Reaction

PART = Part(seed=1, cluster=1, policy=FAST)


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run for a minute where it would be more than an hour."""
    monkeypatch.setattr(reaction_run, "DURATION", timedelta(minutes=1))


def test_only_windows_have_the_waits_off() -> None:
    """`fast` leaves them aside by itself."""
    fast, window = options_of(FAST), options_of("windowed-3")
    assert (fast.reaction, fast.scale_down_interval) == (Reaction.FAST, timedelta(hours=1))
    assert (window.reaction, window.scale_down_interval) == (Reaction.WINDOWED, timedelta())
    assert window.metrics_window == timedelta(minutes=3)


def test_a_cluster_gives_a_row_for_each_of_its_jobs() -> None:
    """In the first minute nothing happens: every job has what it needs."""
    rows = measured(PART)
    assert [row.job for row in rows] == list(range(10, 20))
    assert all(row.quick and row.policy == FAST and row.rescales == 0 for row in rows)
    constant = [row for row in rows if row.course == Course.CONSTANT]
    assert [row.share for row in constant] == [1.0, 1.0]


def test_a_series_goes_on_where_it_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job and policy that has its line is not measured again, unless that is asked for."""
    monkeypatch.setattr(reaction, "compared", lambda seed: compared(seed, tmp_path))
    monkeypatch.setattr(reaction, "calm", lambda seed: calm(seed, tmp_path))
    compared(1, tmp_path).add(measured(Part(seed=1, cluster=0, policy=FAST)))
    reaction.main(jobs=10, calm_jobs=0, policies=FAST, processes=1)
    assert capsys.readouterr().out == ""
    assert len(compared(1, tmp_path).rows()) == 10
    reaction.main(jobs=10, calm_jobs=0, policies=f"{FAST},windowed-3", processes=1)
    assert "2 of 2" in capsys.readouterr().out
    assert len(compared(1, tmp_path).rows()) == 20
