"""Reactions on real Flink: which runs in which order, what Headgate is told, and what is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.reaction_flink import planned
from benchmarks.reaction_flink_figures import Look, Step
from benchmarks.reaction_flink_results import Name, Results
from benchmarks.reaction_flink_setting import AGG, ARMS, CLUSTERS, SETTING, STEADY_RUNS, headgate, phase_s

from headgate.config import load
from headgate.options.autoscaler import AutoscalerOptions, Reaction

LOOK = Look(at_s=-0.4, asked=(1, 1, 1, 1), ran=(1, 1, 1, 1), runs=True, lag=0)
STEP = Step(per_s=1600, looks=[LOOK, replace(LOOK, at_s=2.0, asked=(1, 1, 4, 1), runs=False, lag=900)], phase_s=1.5)
RUN: dict[str, Any] = {"began": "2026-01-01 00:00:00", "cores": 2, "load": [0.5, 1.5], "steps": {"up": STEP.told}}


def options(tmp_path: Path, reaction: str, aggregator: str = "AVG") -> AutoscalerOptions:
    """Return the options of jobs that Headgate reads out of the file that it is given."""
    path = tmp_path / f"{reaction}.yaml"
    path.write_text(yaml.safe_dump(headgate(reaction, "http://127.0.0.1:8081", aggregator=aggregator)))
    loaded = load(path, {}, {})
    assert not loaded.warnings
    return loaded.options.autoscaler


def test_both_headgates_are_told_the_same_but_for_how_they_react(tmp_path: Path) -> None:
    """The windowed one also that it need not wait for an hour; neither that it may shrink by more than 60 %."""
    fast, windowed = options(tmp_path, "fast"), options(tmp_path, "windowed")
    assert (fast.reaction, windowed.reaction) == (Reaction.FAST, Reaction.WINDOWED)
    assert replace(windowed, reaction=fast.reaction, scale_down_interval=fast.scale_down_interval) == fast
    assert windowed.scale_down_interval == timedelta()
    assert windowed.scale_down_max_factor == 0.6


def test_the_aggregator_of_a_steady_load_is_the_one_of_its_name(tmp_path: Path) -> None:
    """Of both there are the same loads."""
    for name, (_, aggregator) in STEADY_RUNS.items():
        assert options(tmp_path, "fast", aggregator).busy_time_aggregator == name.split()[0]
    assert [name for name in STEADY_RUNS if name.startswith("MAX")] == ["MAX 30%", "MAX 60%", "MAX 68%"]


def test_each_steady_load_has_the_size_that_it_needs() -> None:
    """So that whoever rescales it is wrong."""
    for steady, _ in STEADY_RUNS.values():
        assert SETTING.sizes(SETTING.per_s(steady.agg, steady.busy))[AGG] == steady.agg


def test_a_cluster_differs_from_the_other_one_in_what_makes_a_rescale_wait() -> None:
    """Everything else would be another comparison."""
    short, stock = (set(CLUSTERS[name].settings.items()) for name in ("short", "stock"))
    assert {key.rpartition(".")[2] for key, _ in short ^ stock} == {"interval", "cooldown-after-rescaling"}
    assert ("metrics.fetcher.update-interval", "1000") in short & stock


def test_a_phase_is_drawn_within_the_longest_loop_and_the_same_each_time() -> None:
    """One for each way, repeat and step."""
    drawn = {phase_s("stock", arm, repeat, "up") for arm in ARMS for repeat in range(20)}
    assert len(drawn) > 50
    assert 0 <= min(drawn) < 5
    assert 55 < max(drawn) <= 60
    assert phase_s("short", "fast", 1, "up") == phase_s("short", "fast", 1, "up") <= 10


def test_each_repeat_begins_with_another_way() -> None:
    """Then come the other cluster's, then the loads that do not step, which only the fast one is left alone with."""
    names = list(planned(["fast", "script"], repeats=2, stock=1, steady=1))
    assert names[:4] == [
        Name("short", "fast", 1),
        Name("short", "script", 1),
        Name("short", "script", 2),
        Name("short", "fast", 2),
    ]
    assert [name.cluster for name in names[4:]] == ["stock", "stock", *["steady"] * 6]
    assert not any(name.cluster == "steady" for name in planned(["script"], repeats=1, stock=1, steady=1))


def test_a_run_is_found_again_as_it_was_kept(tmp_path: Path) -> None:
    """In whatever order the runs come; a look is a line."""
    path = tmp_path / "runs.json"
    results = Results.opened(path, forget=lambda _: False)
    results.add(Name("stock", "fast", 2), RUN)
    results.add(Name("short", "fast", 1), RUN)
    read = Results.opened(path, forget=lambda _: False)
    assert list(read.runs) == [Name("short", "fast", 1), Name("stock", "fast", 2)]
    (step,) = read.steps("stock", "fast", "up")
    assert (step.per_s, step.phase_s, step.looks) == (1600, 1.5, STEP.looks)
    assert "     [2.0,[1,1,4,1],[1,1,1,1],0,900]\n" in path.read_text()


def test_runs_of_another_setting_are_not_added_to(tmp_path: Path) -> None:
    """Unless all of them are forgotten; what is forgotten is gone with the next run that is kept."""
    path = tmp_path / "runs.json"
    Results.opened(path, forget=lambda _: False).add(Name("short", "fast", 1), RUN)
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "setting": {}}))
    with pytest.raises(SystemExit, match="another setting"):
        Results.opened(path, forget=lambda name: name.arm == "script")
    results = Results.opened(path, forget=lambda name: name.arm == "fast")
    assert not results.runs
    results.add(Name("short", "script", 1), RUN)
    assert list(Results.read(path).runs) == [Name("short", "script", 1)]
