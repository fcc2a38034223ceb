"""The Kafka demo's own parts: its draw, its judge on timelines made by hand, and its look at Flink."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headgate.demo.draw import UTILIZATION_TARGET
from headgate.demo.kafka.draw import COST_US, draw_kafka
from headgate.demo.kafka.judge import claims
from headgate.demo.kafka.topics import Writer
from headgate.demo.kafka.watch import KafkaWatcher
from headgate.demo.timeline import Observation

LENGTH = timedelta(seconds=60)
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def seen(*changes: tuple[int, int]) -> list[Observation]:
    """Give an observation a second over four phases, of a job that runs at what was last named."""
    return [
        Observation(at_s=float(at), parallelism={"work": [n for when, n in changes if when <= at][-1]})
        for at in range(-5, 240)
    ]


def judged(timeline: list[Observation], *, written: int = 3, found: tuple[int, ...] = (0, 1, 2)) -> list[bool]:
    """Tell which claims hold."""
    return [claim.holds for claim in claims(timeline, LENGTH, written=written, found=Counter(found))]


@pytest.mark.parametrize("seed", range(50))
def test_every_draw_has_one_clear_answer_in_each_phase(seed: int) -> None:
    """It goes up by three subtasks at least, and down again; no need lies near a whole number."""
    workload = draw_kafka(seed)
    wanted = [workload.optimum(phase)["work"] for phase in workload.phases]
    needs = [phase.rate_per_s * COST_US / 1e6 / UTILIZATION_TARGET for phase in workload.phases]

    assert wanted[0] == 1
    assert wanted[1] == wanted[2] in {4, 5}
    assert wanted[3] == 1
    assert all(0.25 < need % 1 < 0.75 for need in needs)
    assert draw_kafka(seed) == workload


def test_a_run_as_it_should_be_is_praised() -> None:
    """One step up, one down, every record once."""
    assert judged(seen((-5, 1), (70, 4), (200, 1))) == [True, True, True]


def test_every_fault_is_found() -> None:
    """Two steps up, none at all, a rescale in the outage, a lost record and a doubled one."""
    assert judged(seen((-5, 1), (70, 2), (80, 4), (200, 1))) == [False, True, True]
    assert judged(seen((-5, 1))) == [False, True, True]
    assert judged(seen((-5, 1), (70, 4), (130, 2))) == [True, False, True]
    assert judged(seen((-5, 1), (70, 4)), found=(0, 2)) == [True, True, False]
    assert judged(seen((-5, 1), (70, 4)), found=(0, 1, 1, 2)) == [True, True, False]
    assert judged(seen((-5, 1), (70, 4)), written=0, found=()) == [True, True, False]


def test_what_waits_is_what_was_written_and_not_passed_on() -> None:
    """Positions that are told anew after a restart do not count until they are further than before."""
    positions = [100.0] * 8

    def ask(url: str) -> Any:
        if "metrics" in url:
            return [{"id": str(number), "max": position - 1} for number, position in enumerate(positions)]
        task = {"id": "s", "parallelism": 4, "status": "RUNNING"}
        sink = "sink: Writer -> sink: Committer"
        return {"state": "RUNNING", "vertices": [{**task, "name": name} for name in ("Source: source", "work", sink)]}

    writer = Writer("nowhere:1", "in")
    writer.written = 1000
    watcher = KafkaWatcher("http://flink", "j", writer, ask=ask)
    first = watcher.look(EPOCH, EPOCH)
    positions[:] = [0.0] * 8
    again = watcher.look(EPOCH + timedelta(seconds=1), EPOCH)

    assert first is not None
    assert again is not None
    assert (first.lag_records, again.lag_records) == (200, 200)
    assert again.parallelism == {"source": 4, "work": 4, "sink": 4}
    assert again.processed_per_s == 0
