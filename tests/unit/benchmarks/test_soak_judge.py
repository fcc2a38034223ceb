"""The judge of the soak finds what is planted, and nothing in a run without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from benchmarks.soak_judge import judge
from benchmarks.soak_truth import Entry, What

TICK_S, UNTIL_S = 10.0, 900.0
HEALTHY = (
    Entry(0.0, 7, What.LEVEL, "2"),
    Entry(100.0, 7, What.LEVEL, "8"),
    Entry(130.0, 7, What.DECISION, "a"),
    Entry(131.0, 7, What.EFFECT, "5 10 3"),
    Entry(190.0, 7, What.DECISION, "b"),
    Entry(191.0, 7, What.EFFECT, "8 16 4"),
)


def run(**series: float) -> Mapping[str, Any]:
    """Give raw results in which each series grows, in all, by its factor."""
    ticks = range(0, int(UNTIL_S), int(TICK_S))
    grown = {"memory": 1.0, "collect": 1.0, "decide": 1.0, **series}
    return {
        "setting": {"duration_s": UNTIL_S, "tick_s": TICK_S},
        "series": {name: [(at, 100 * (1 + (of - 1) * at / UNTIL_S)) for at in ticks] for name, of in grown.items()},
        "events": {"happened": 50, "told": 10, "retold": []},
    }


def faults(ledger: Sequence[Entry], **series: float) -> list[str]:
    """Judge a ledger in order of time."""
    return list(judge(run(**series), sorted(ledger, key=lambda entry: entry.at_s)).faults())


def test_a_job_that_got_what_it_needed_is_no_fault() -> None:
    """In two steps, each with a decision of its own; how long it took is told."""
    assert not faults(HEALTHY)
    assert judge(run(), HEALTHY).met_s == [91.0]


@pytest.mark.parametrize("name", ["memory", "collect", "decide"])
def test_growth_is_a_fault(name: str) -> None:
    """A leak of half as much again shows in the last third."""
    (fault,) = faults(HEALTHY, **{name: 1.5})
    assert fault.startswith(f"{name}: the last third is 1.2")


def test_a_soak_too_short_for_thirds_is_a_fault() -> None:
    """Nothing is called flat that was not looked at."""
    short = {**run(), "series": {"memory": [(1.0, 5.0)], "collect": [], "decide": []}}
    assert len([fault for fault in judge(short, HEALTHY).faults() if "too few samples" in fault]) == 3


def test_a_need_that_nobody_met_is_a_fault() -> None:
    """With what ran, what was needed, and since when."""
    (fault,) = faults(HEALTHY[:2])
    assert fault == "job 7 ran at (2, 4, 1) instead of (8, 16, 4) for 800 s until 900 s"


def test_a_step_too_small_does_not_meet_a_need() -> None:
    """The first rescale alone leaves the job too slow, and the clock runs on from the step of the load."""
    assert "for 800 s" in faults(HEALTHY[:4])[0]


def test_a_need_met_too_late_is_a_fault() -> None:
    """The limit is 220 s."""
    late = [entry if entry.at_s < 190 else entry._replace(at_s=entry.at_s + 140) for entry in HEALTHY]
    assert "for 230 s until 330 s" in faults(late)[0]


def test_a_job_in_trouble_gets_its_time_afterwards() -> None:
    """While nothing can be asked of a job nothing can be done for it; a minute later the limit begins anew."""
    troubled = [*HEALTHY[:2], Entry(110.0, 7, What.TROUBLE, "hang"), Entry(150.0, 7, What.CALM, "hang")]
    met = [Entry(410.0, 7, What.DECISION, "a"), Entry(420.0, 7, What.EFFECT, "8 16 4")]
    assert not faults([*troubled, *met])
    assert faults(troubled)


def test_the_trouble_of_another_job_is_no_excuse() -> None:
    """Each has its own."""
    other = [Entry(0.0, 8, What.LEVEL, "2"), Entry(110.0, 8, What.TROUBLE, "hang")]
    assert faults([*HEALTHY[:2], *other])


def test_a_need_that_the_next_step_takes_away_is_none() -> None:
    """It is neither met nor missed."""
    back = [*HEALTHY[:2], Entry(200.0, 7, What.LEVEL, "2")]
    verdict = judge(run(), back)
    assert (verdict.met_s, verdict.missed, verdict.courses[0].cut_short) == ([], [], 1)


def test_a_rescale_without_a_decision_of_its_own_is_a_fault() -> None:
    """Whether there was none, or another rescale had it already, even if it was told twice."""
    again = Entry(300.0, 7, What.EFFECT, "8 16 5")
    retold = Entry(299.0, 7, What.DECISION, "b")
    for ledger in ([*HEALTHY, again], [*HEALTHY, retold, again]):
        assert faults(ledger) == ["job 7 was rescaled to 8 16 5 at 300 s by no decision of its own"]


def test_asking_again_for_the_same_is_a_fault() -> None:
    """The fake server saw a PUT that changed nothing."""
    again = Entry(200.0, 7, What.RESTATED, "8 16 4")
    assert faults([*HEALTHY, again]) == ["job 7 was asked for 8 16 4 again at 200 s"]


def test_asking_again_without_an_answer_is_no_fault() -> None:
    """Whoever got none cannot know; once answers come again they can."""
    lost = [Entry(180.0, 7, What.TROUBLE, "lost"), Entry(195.0, 7, What.CALM, "lost")]
    within, later = (Entry(at_s, 7, What.RESTATED, "8 16 4") for at_s in (192.0, 200.0))
    assert not faults([*HEALTHY, *lost, within])
    assert faults([*HEALTHY, *lost, later])


def test_an_event_told_twice_is_a_fault() -> None:
    """It should have been merged."""
    told = {**run(), "events": {"happened": 50, "told": 10, "retold": ["fleet:collecting"]}}
    assert list(judge(told, HEALTHY).faults()) == ["event fleet:collecting was told twice"]


def test_a_rescale_of_a_job_that_fitted_is_counted() -> None:
    """It is told, and no fault."""
    needless = [*HEALTHY, Entry(400.0, 7, What.DECISION, "c"), Entry(401.0, 7, What.EFFECT, "9 16 4")]
    assert judge(run(), needless).courses[0].needless == 1
    assert not faults(needless)
