"""What a newcomer sees of a job that was first decided on a minute ago, and was rescaled at once."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.overview.conftest import INTERVAL, Service, decided, made, waiting

from headgate.events.reading import KeptEvent
from headgate.model.decision import Decision
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.state import JobState, ScalingRecord
from headgate.overview.reading import past
from headgate.overview.row import Change
from headgate.overview.story import story
from headgate.testing.builders import ORDERS, at

AGG = VertexId("agg")
GROWN = ScalingRecord(decision_id="d1", at=at(0), before={AGG: 4}, after={AGG: 12})
SHRUNK = ScalingRecord(decision_id="d2", at=at(30), before={AGG: 12}, after={AGG: 4})


def named(decision: Decision, name: str) -> Decision:
    """Call the vertex otherwise than by its id."""
    proposals = (replace(each, name=name) if each.vertex == AGG else each for each in decision.proposals)
    return replace(decision, proposals=tuple(proposals))


def told(service: Service, begin: float, end: float, *events: KeptEvent) -> list[str]:
    """Read and tell the job's past."""
    read = past(ORDERS, service.reader, service.store, lambda: events, since=at(begin), now=at(end), interval=INTERVAL)
    return list(story(read, width=80))


def test_a_job_that_settles_keeps_its_vertices_names(service: Service) -> None:
    """Neither a rollback nor a window that fills names a vertex; the rescale before did."""
    service.decides(named(made(0), "Aggregate"))
    service.decides(waiting(30, Reason.ROLLED_BACK))
    service.remembers(JobState(history=(GROWN, SHRUNK)))
    service.decides(waiting(60, Reason.WINDOW_FILLING))
    (row,) = service.at_a_glance(70).rows
    assert row.advice is not None
    assert row.advice.changes == (Change(name="Aggregate", before=12, after=4),)


def test_charts_begin_where_something_is_known(service: Service) -> None:
    """A day was asked for, and a minute of it is known: it fills the chart, and the heading says so."""
    for second in (0, 30, 60):
        service.decides(decided(second, load=0.5 + second / 200))
    heading, *lines = told(service, -86_400, 60)
    assert f"known from {at(0):%Y-%m-%d %H:%M} on" in heading
    chart = next(line for line in lines if "busiest" in line)
    bars = [place for place, letter in enumerate(chart) if letter in "▁▂▃▄▅▆▇█"]
    assert bars[-1] - bars[0] > 40
    assert "known from" not in told(service, 0, 60)[0]


def test_seconds_are_told_of_what_took_no_minute(service: Service) -> None:
    """`14:08 to 14:08` would say nothing."""
    for second in (0, 30):
        service.decides(waiting(second, Reason.WINDOW_FILLING))
    assert any(f"{at(0):%H:%M:%S} to {at(30):%H:%M:%S}  window filling" in line for line in told(service, 0, 40))


def test_a_recommendation_is_no_part_of_the_past(service: Service) -> None:
    """It has changed nothing; `headgate events` shows it."""
    advised = KeptEvent(
        first_at=at(0),
        last_at=at(0),
        count=1,
        type="Normal",
        reason=EventReason.CONFIGURATION_RECOMMENDATION,
        subject=str(ORDERS),
        key="k",
        message="less memory would do",
        fields={},
    )
    assert not any("less memory" in line for line in told(service, 0, 40, advised))
