"""Reactions on real Flink: how a step is made, without Flink."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from benchmarks.reaction_flink_figures import Look
from benchmarks.reaction_flink_run import Scene, _step
from benchmarks.reaction_flink_setting import CLUSTERS, Sizes
from benchmarks.reaction_flink_watch import POLL_S, Job

from headgate.demo.loadjob import FileProfile


class FakeJob(Job):
    """Runs at once with what it is asked for, and has no backlog; its clock is a thousand times as fast."""

    def __init__(self) -> None:
        """Let it run with one subtask each."""
        self.asked: list[tuple[datetime, Sizes]] = []

    def ask(self, sizes: Sizes) -> None:
        """Note when it was asked."""
        self.asked.append((datetime.now(UTC), sizes))

    def follow(self, since: datetime, over: Callable[[list[Look]], bool], *, poll_s: float = POLL_S) -> list[Look]:
        """Look as a job does."""
        looks: list[Look] = []
        while not looks or not over(looks):
            time.sleep(poll_s / 10)
            runs = self.asked[-1][1] if self.asked else (1, 1, 1, 1)
            at_s = 1000 * (datetime.now(UTC) - since).total_seconds()
            looks.append(Look(at_s=at_s, asked=runs, ran=runs, runs=True, lag=0))
        return looks


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a job that never needs a cluster."""
    load = FileProfile(path=tmp_path / "load")
    return Scene(url="http://fake", job=FakeJob(), load=load, epoch=datetime.now(UTC), folder=tmp_path)


def test_a_script_asks_at_the_instant_of_the_step(scene: Scene) -> None:
    """Which the source's file tells beforehand; the step is over once all has been well for a minute."""
    assert isinstance(scene.job, FakeJob)
    step = _step(scene, 1600, scene.job.ask, drawn_s=0.0, cluster="short")
    ((at, sizes),) = scene.job.asked
    assert sizes == (1, 1, 4, 1)
    begun_s, per_s = scene.load.path.read_text().strip().split("=")
    assert float(per_s) == 1600
    assert (at - scene.epoch).total_seconds() == pytest.approx(float(begun_s), abs=0.2)
    assert (step.per_s, step.phase_s) == (1600, 0.0)
    assert 60 <= step.looks[-1].at_s < CLUSTERS["short"].limit_s


def test_a_step_that_nobody_answers_is_given_up(scene: Scene) -> None:
    """At the limit of its cluster."""
    step = _step(scene, 1600, lambda _: None, drawn_s=0.0, cluster="short")
    assert step.looks[-1].at_s >= CLUSTERS["short"].limit_s
    assert step.looks[-2].at_s < CLUSTERS["short"].limit_s


def test_whoever_fails_to_ask_fails_the_run(scene: Scene) -> None:
    """It would be a measurement of nothing."""

    def refuse(_: Sizes) -> None:
        message = "no"
        raise ConnectionError(message)

    with pytest.raises(ConnectionError):
        _step(scene, 400, refuse, drawn_s=0.0, cluster="short")
