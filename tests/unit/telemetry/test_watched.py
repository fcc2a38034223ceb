"""What is noted of the calls that pass through ports; the calls themselves are as they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

import pytest

from headgate.control.leases import Leases
from headgate.errors import ConflictError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.orders import Given, Orders
from headgate.model.state import JobState, VersionedState
from headgate.ports import Candidate
from headgate.stores.memory import MemoryStateStore
from headgate.telemetry.board import Board
from headgate.telemetry.tap import Tap
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.fakes import FakeEngine, RecordingLog

Page = Mapping[str, Mapping[tuple[str, ...], float]]
Scrape = Callable[[Board], Page]


class FailingStore(MemoryStateStore):
    """A store that can be cut off."""

    fault: Exception | None = None

    def load(self, job: JobKey, /) -> VersionedState:
        """Load, or fail."""
        if self.fault:
            raise self.fault
        return super().load(job)


class FullDisk:
    """Keeps nothing."""

    def append(self, _: object, /) -> None:
        """Fail."""
        message = "no space left"
        raise UnreachableError(message)

    append_decisions = append_circumstances = append


@pytest.fixture
def board() -> Board:
    """Look at a clock that stands a minute after the first tick."""
    return Board(lambda: at(60))


def test_a_store_that_does_not_answer_is_noted_and_fails_all_the_same(board: Board, scrape: Scrape) -> None:
    """Until it answers again; before it was ever asked nobody knows."""
    behind = FailingStore()
    store = Tap(board=board).store(behind)
    assert "headgate_store_reachable" not in scrape(board)
    behind.fault = UnreachableError("connection refused")
    with pytest.raises(UnreachableError, match="connection refused"):
        store.load(ORDERS)
    assert scrape(board)["headgate_store_reachable"] == {(): 0}
    assert scrape(board)["headgate_store_errors_total"] == {(): 1}
    behind.fault = None
    assert store.load(ORDERS).version == 0
    assert scrape(board)["headgate_store_reachable"] == {(): 1}
    assert scrape(board)["headgate_store_errors_total"] == {(): 1}


def test_a_refusal_is_an_answer(board: Board, scrape: Scrape) -> None:
    """Somebody else was faster: the store works as it should."""
    store = Tap(board=board).store(MemoryStateStore())
    with pytest.raises(ConflictError):
        store.save(ORDERS, JobState(), 7)
    assert scrape(board)["headgate_store_reachable"] == {(): 1}
    assert scrape(board)["headgate_store_errors_total"] == {(): 0}


def test_what_people_ordered_is_shown_as_it_is_read(board: Board, scrape: Scrape) -> None:
    """For the fleet and for single jobs; one that is taken back is gone with the next reading."""
    store, given = Tap(board=board).store(MemoryStateStore()), Given(at=at(0), by="alice@laptop")
    store.change_orders(None, lambda _: Orders(pause=given))
    store.change_orders(ORDERS, lambda _: Orders(rollback=given, options={"a": "b"}))
    store.orders()
    assert scrape(board)["headgate_orders"] == {
        ("options", "fleet"): 0,
        ("options", "job"): 1,
        ("pause", "fleet"): 1,
        ("pause", "job"): 0,
        ("rollback", "fleet"): 0,
        ("rollback", "job"): 1,
    }
    store.change_orders(None, lambda _: Orders())
    store.orders()
    assert scrape(board)["headgate_orders"]["pause", "fleet"] == 0


def test_the_age_of_the_newest_sample(board: Board, scrape: Scrape) -> None:
    """By cluster; one that has given none has no age."""
    tap, log = Tap(board=board), RecordingLog()
    tap.samples("lab", log)
    tap.samples("prod", log).append([sample(chain({"source": 1}), tick=at(45))])
    assert scrape(board)["headgate_cluster_newest_sample_age_seconds"] == {("prod",): 15}


def test_writes_to_the_log_that_fail_are_counted_by_table(board: Board, scrape: Scrape) -> None:
    """And fail all the same."""
    tap = Tap(board=board)
    with pytest.raises(UnreachableError):
        tap.samples("prod", FullDisk()).append([sample(chain({"source": 1}))])
    with pytest.raises(UnreachableError):
        tap.kept(FullDisk()).append_decisions([])
    with pytest.raises(UnreachableError):
        tap.recorded(FullDisk()).append_circumstances([])
    assert scrape(board)["headgate_log_errors_total"] == {("circumstances",): 1, ("decisions",): 1, ("samples",): 1}
    assert "headgate_cluster_newest_sample_age_seconds" not in scrape(board)


def test_an_evaluation_is_under_way_until_it_ends(board: Board) -> None:
    """Also by an error: what failed does not hang."""

    class Evaluator:
        seen: datetime | None = None

        def evaluate(self, _: Sequence[Candidate], __: datetime, /) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
            self.seen = board.vitals.read().evaluating_since
            message = "planted"
            raise UnreachableError(message)

    evaluator = Evaluator()
    with pytest.raises(UnreachableError):
        Tap(board=board).evaluator(evaluator).evaluate([], at(0))
    assert evaluator.seen == at(60)
    assert board.vitals.read().evaluating_since is None


async def test_requests_to_engines_are_measured(board: Board, scrape: Scrape) -> None:
    """As part of the cycle in which they are made."""
    engine = FakeEngine()
    engine.add(context(), sample(chain({"source": 1})))
    graph = chain({"source": 1})
    await Tap(board=board).realizer(engine).realize_parallelism_overrides(context(), graph.parallelism)
    board.decided([])
    assert scrape(board)["headgate_phase_duration_seconds_count"] == {("realize",): 1}


def test_leases_are_shown_by_who_holds_them(board: Board, scrape: Scrape) -> None:
    """Two processes that divide eight parts; one that gives everything back holds none."""
    store = MemoryStateStore()
    anna, bert = (
        Leases(store, shards=8, duration=timedelta(seconds=30), holder=f"host/{name}/8") for name in ("anna", "bert")
    )
    Tap(board=board).leases(anna)
    assert scrape(board)["headgate_lease_shards"] == {("nobody",): 8, ("others",): 0, ("self",): 0}
    anna.renew(at(0))
    assert scrape(board)["headgate_lease_shards"] == {("nobody",): 0, ("others",): 0, ("self",): 8}
    assert scrape(board)["headgate_lease_expiry_timestamp_seconds"] == {(): at(30).timestamp()}
    bert.renew(at(1))
    anna.share_out(at(2))
    bert.renew(at(3))
    anna.renew(at(4))
    assert scrape(board)["headgate_lease_shards"] == {("nobody",): 0, ("others",): 4, ("self",): 4}
    anna.give_up()
    assert scrape(board)["headgate_lease_shards"]["self",] == 0
    assert "headgate_lease_expiry_timestamp_seconds" not in scrape(board)


def test_without_a_board_nothing_stands_in_between() -> None:
    """The ports are as they are."""
    tap, store, log, engine = Tap(), MemoryStateStore(), RecordingLog(), FakeEngine()
    assert tap.store(store) is store
    assert tap.samples("prod", log) is log
    assert tap.kept(log) is log
    assert tap.realizer(engine) is engine
