"""The reactive demo's judge and its story, on sights made by hand: right, late, unfelt, never begun."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from headgate.config import load
from headgate.demo.loadjob import FileProfile
from headgate.demo.reactive.draw import DEATH, SLOTS, draw_reactive
from headgate.demo.reactive.judge import HOLD_S, PhaseVerdict, judge_phase
from headgate.demo.reactive.service import MOST_WORKERS, reactive_configuration
from headgate.demo.reactive.timeline import Happening, Story, draw_story, noticed
from headgate.demo.reactive.verdicts import reactive_summary, reactive_table
from headgate.demo.reactive.watch import ReactiveWatcher, Sight
from headgate.demo.timeline import Observation
from headgate.options.reactive import ExecutionMode

WORKLOAD = draw_reactive(1)
LOW, HIGH = 0, 1
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def sight(at_s: float, workers: int, slots: int | None = None) -> Sight:
    """See so many TaskManagers, and the job in all of their slots unless told otherwise."""
    running = workers * SLOTS if slots is None else slots
    return Sight(
        at_s=at_s,
        workers=workers,
        job=Observation(at_s=at_s, parallelism={"source": running}, running=running > 0, lag_records=10.0),
    )


def judged(number: int, *workers: int) -> PhaseVerdict:
    """Judge a phase from a sight a second."""
    return judge_phase(WORKLOAD, number, [sight(float(at), count) for at, count in enumerate(workers)])


@pytest.mark.parametrize("seed", range(50))
def test_every_draw_has_a_clear_answer(seed: int) -> None:
    """One TaskManager is enough when the load is low, three are needed when it is high, never a fourth."""
    workload = draw_reactive(seed)
    assert [workload.workers(phase) for phase in workload.phases] == [1, 3, 3, 1]
    assert workload.workers(workload.phases[HIGH]) < MOST_WORKERS


def test_a_phase_is_passed_once_the_right_number_has_held() -> None:
    """Not a second before, and what was before that does not matter."""
    hold = int(HOLD_S) + 1
    assert judged(HIGH, *[1] * 5, *[3] * hold).passed
    assert judged(HIGH, *[1] * 5, *[3] * hold).settled_after_s == 5
    assert not judged(HIGH, *[1] * 5, *[3] * (hold - 1)).passed
    assert not judged(HIGH, *[3] * hold, 2).passed
    assert not judged(HIGH, *[4] * hold).passed


def test_taskmanagers_that_the_job_does_not_use_do_not_count() -> None:
    """Three of them and a job in four slots are not what was needed."""
    seen = [sight(float(at), 3, slots=4) for at in range(20)]
    assert not judge_phase(WORKLOAD, HIGH, seen).passed


def test_a_death_must_be_felt_and_overcome() -> None:
    """A phase in which nothing is seen of it has proved nothing; the fewest slots are told."""
    unfelt = judged(DEATH, *[3] * 20)
    assert not unfelt.passed
    overcome = judged(DEATH, *[3] * 2, 0, *[2] * 3, *[3] * 20)
    assert overcome.passed
    assert overcome.least_running == 2 * SLOTS
    assert not judged(DEATH, *[3] * 2, *[2] * 20).passed


def test_a_phase_that_never_began_is_not_passed() -> None:
    """And says so."""
    verdict = judge_phase(WORKLOAD, LOW, [])
    assert not verdict.passed
    assert (verdict.reached, verdict.settled_after_s) == (None, None)


def test_a_phase_has_the_sights_from_its_begin_to_the_next() -> None:
    """Before the first and of those that never began there are none."""
    story = Story(sights=[sight(float(at), 1) for at in range(10)], begun_s=[2.0, 6.0])
    assert [[each.at_s for each in story.seen_in(number)] for number in range(4)] == [
        [2, 3, 4, 5],
        [6, 7, 8, 9],
        [],
        [],
    ]


def test_what_happens_is_told_when_it_changes() -> None:
    """In the order of what was seen, and once."""
    sights = [sight(0, 1), sight(1, 1), sight(2, 3, slots=2), sight(3, 3, slots=0), sight(4, 3)]
    before = [None, *sights]
    told = [what for earlier, seen in zip(before, sights, strict=False) for what in noticed(earlier, seen)]
    assert told == [
        "1 TaskManager",
        "the job runs in 2 slots",
        "3 TaskManagers",
        "the job, in 2 slots, restarts",
        "the job runs in 6 slots",
    ]
    said = Happening(at_s=65, what="asked for 2 workers", said_as="WorkersRequested")
    assert said.line == "  1:05  Headgate: WorkersRequested: asked for 2 workers"


def drawn(story: Story) -> str:
    """Draw a story on 80 columns."""
    console = Console(width=80, record=True, file=StringIO())
    console.print(draw_story(story, WORKLOAD, width=80))
    return console.export_text()


def test_the_story_ends_as_charts_with_a_heading_for_each_phase_that_began() -> None:
    """As wide as it took; a demo that saw nothing draws nothing, and does not fail."""
    story = Story(sights=[sight(float(at), 1 if at < 30 else 3) for at in range(60)], begun_s=[0.0, 20.0])
    picture = drawn(story)
    assert "low load" in picture
    assert "high load" in picture
    assert "worker dies" not in picture
    assert "█" in picture
    assert "TaskManagers" in drawn(Story())


def test_the_verdicts_end_in_one_line() -> None:
    """It names the phases that failed."""
    good, bad = judged(LOW, *[1] * 20), judged(HIGH, 1)
    assert "PASSED" in reactive_summary([good], dry_run=False).plain
    assert "high load" in reactive_summary([good, bad], dry_run=True).plain
    assert "right for a dry run" in reactive_summary([good, bad], dry_run=True).plain
    console = Console(width=100, record=True, file=StringIO())
    console.print(reactive_table([good, bad]))
    assert "3/1" in console.export_text()


def test_the_watcher_finds_the_job_when_it_is_there(tmp_path: Path) -> None:
    """Before, there are TaskManagers to count; a cluster that does not answer is seen by nobody."""
    spec = WORKLOAD.spec(epoch=NOW, profile=FileProfile(path=tmp_path / "load"))
    answers: dict[str, object] = {"u/overview": {"taskmanagers": 2}, "u/jobs/overview": {"jobs": []}}

    def ask(url: str) -> object:
        if url not in answers:
            raise OSError(url)
        return answers[url]

    watcher = ReactiveWatcher("u", spec, ask=ask)
    seen = watcher.look(NOW + timedelta(seconds=3))
    assert seen == Sight(at_s=3.0, workers=2)
    assert (seen.running, seen.lag_records) == (0, 0.0)
    answers["u/jobs/overview"] = {"jobs": [{"jid": "a"}]}
    assert watcher.look(NOW) == Sight(at_s=0.0, workers=2)
    answers.clear()
    assert watcher.look(NOW) is None


def test_the_configuration_is_one_that_headgate_accepts(tmp_path: Path) -> None:
    """It is told how to start TaskManagers, up to one more than are needed, and nothing of the work."""
    file = tmp_path / "headgate.yaml"
    told = reactive_configuration(
        "http://127.0.0.1:8081", tmp_path, cluster=tmp_path, jar=tmp_path / "job.jar", dry_run=False
    )
    file.write_text(yaml.safe_dump(dict(told)))
    loaded = load(file, {}, {})
    assert loaded.warnings == ()
    assert loaded.options.autoscaler.execution_mode is ExecutionMode.REACTIVE
    (cluster,) = loaded.options.clusters
    assert (cluster.workers.provider, cluster.workers.least, cluster.workers.most) == ("here", 1, MOST_WORKERS)
    assert "cost" not in str(told)
