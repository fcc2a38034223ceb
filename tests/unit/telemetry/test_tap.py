"""Where the board listens in, nothing else changes; without a board nothing is put in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.decide import not_ready
from headgate.control import reports
from headgate.errors import UnreachableError
from headgate.events.merging import MergingEventHandler
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.telemetry.board import Board
from headgate.telemetry.tap import Tap
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.fakes import FakeEngine, RecordingEvents

Scrape = Callable[[Board], Mapping[str, Mapping[tuple[str, ...], float]]]

WAITING = NotReady(reason=Reason.WINDOW_FILLING, message="the window is filling")
ERROR = reports.job_error(ORDERS, ValueError("planted"), at(0), timedelta(minutes=30))


def test_without_a_board_nothing_stands_in_between() -> None:
    """What is not shown is not collected either."""
    tap, events, engine, told = Tap(), RecordingEvents(), FakeEngine(), list[tuple[Decision, ...]]()
    assert tap.events(events) is events
    assert tap.fetcher("prod", engine) is engine
    listener = told.append
    assert tap.decisions(listener) is listener


def test_events_are_counted_before_they_are_merged(scrape: Scrape) -> None:
    """Somebody is told once in half an hour; the counter says how often it happened."""
    board, recorded = Board(), RecordingEvents()
    handler = Tap(board=board).events(MergingEventHandler(recorded))
    for seconds in (0, 10, 20):
        handler.handle(replace(ERROR, at=at(seconds)))
    assert len(recorded.told) == 1
    assert scrape(board)["headgate_job_errors_total"] == {("prod", "orders"): 3}


def test_an_event_that_is_offered_again_counts_once(scrape: Scrape) -> None:
    """It is counted when it is delivered, and the failure to deliver it is still an error."""
    board, recorded = Board(), RecordingEvents(fault=UnreachableError("planted"))
    handler = Tap(board=board).events(recorded)
    with pytest.raises(UnreachableError):
        handler.handle(ERROR)
    recorded.fault = None
    handler.handle(ERROR)
    assert scrape(board)["headgate_job_errors_total"] == {("prod", "orders"): 1}


async def test_a_cluster_that_stops_answering_is_shown_with_the_jobs_it_had(scrape: Scrape) -> None:
    """Before it ever answered their number is not known; a job that is over is not counted."""
    board, engine = Board(), FakeEngine(failures={"prod": "planted"})
    graph = sample(chain({"source": 1}))
    engine.add(context(), graph)
    engine.add(replace(context(), key=replace(ORDERS, name="done"), status=JobStatus.FINISHED), graph)
    fetcher = Tap(board=board).fetcher("prod", engine)

    await fetcher.fetch()
    assert scrape(board)["headgate_cluster_reachable"] == {("prod",): 0}
    assert "headgate_cluster_jobs" not in scrape(board)

    engine.failures.clear()
    assert await fetcher.fetch() == await engine.fetch()
    assert scrape(board)["headgate_cluster_reachable"] == {("prod",): 1}
    assert scrape(board)["headgate_cluster_jobs"] == {("prod",): 1}

    engine.failures["prod"] = "planted"
    await fetcher.fetch()
    assert scrape(board)["headgate_cluster_reachable"] == {("prod",): 0}
    assert scrape(board)["headgate_cluster_jobs"] == {("prod",): 1}


def test_decisions_before_their_turn_are_heard_of_apart(scrape: Scrape) -> None:
    """The board first, the listener then; without a board nothing stands in between."""
    board, heard = Board(), list[tuple[Decision, ...]]()
    tap = Tap(board=board)
    orders, returns = (not_ready(JobKey("prod", name), WAITING, at(0)) for name in ("orders", "returns"))

    tap.decisions(heard.append)((orders, returns))
    tap.early_decisions(heard.append)((orders,))

    assert heard == [(orders, returns), (orders,)]
    assert len(scrape(board)["headgate_job_outcome_info"]) == 2
    listener = heard.append
    assert Tap().early_decisions(listener) is listener
