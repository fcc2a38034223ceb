"""When a service counts as alive, and when as ready: hangs and outages, minute by minute, on a clock of the test's."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from headgate.control.leases import LeaseStanding
from headgate.control.runner import Beat, TickRun, Work
from headgate.errors import UnreachableError
from headgate.telemetry.board import Board
from headgate.telemetry.health import Check
from headgate.testing.builders import START

COLLECT, DECIDE = timedelta(seconds=10), timedelta(seconds=30)


@dataclass
class Life:
    """A service that ticks as it should, unless something is said to hang or to fail."""

    board: Board = field(init=False)
    now: datetime = START
    hanging: set[Work] = field(default_factory=set)
    idle: bool = False
    sampling: bool = True

    def __post_init__(self) -> None:
        """Let the board look at this clock."""
        self.board = Board(lambda: self.now)
        self.board.vitals.expect(["prod"])

    def go_on(self, seconds: float) -> Life:
        """Live so long, ten seconds at a time."""
        for _ in range(round(seconds / 10)):
            self.now += timedelta(seconds=10)
            self._tick(Work.COLLECT, "prod", COLLECT)
            if self.now.second % 30 == 0:
                self._tick(Work.DECIDE, "", DECIDE)
        return self

    def _tick(self, work: Work, of: str, interval: timedelta) -> None:
        if work in self.hanging:
            return
        self.board.vitals.began(Beat(work=work, of=of, at=self.now, interval=interval))
        if work is Work.COLLECT and self.idle:
            self.board.vitals.idled("prod")
        elif work is Work.COLLECT and self.sampling:
            self.board.vitals.sampled("prod", self.now)
        self.end(work)

    def end(self, work: Work, *, failed: bool = False) -> None:
        """Bring a tick to its end."""
        run = TickRun(work=work, at=self.now, late=timedelta(), took=timedelta(seconds=1), failed=failed)
        self.board.ticked(run)

    @property
    def dead(self) -> dict[str, str]:
        """What `/healthz` complains of."""
        return _complaints(self.board.health.alive())

    @property
    def unready(self) -> dict[str, str]:
        """What `/readyz` complains of."""
        return _complaints(self.board.health.ready())

    def since(self, name: str) -> datetime | None:
        """Since when a verdict stands."""
        return next(check.since for check in self.board.health.ready() if check.name == name)


def _complaints(checks: tuple[Check, ...]) -> dict[str, str]:
    return {check.name: check.why for check in checks if not check.ok}


@pytest.fixture
def life() -> Life:
    """Begin."""
    return Life()


def test_a_service_that_has_just_begun_lives_and_is_not_ready(life: Life) -> None:
    """Spark may take its time: whoever would restart it then would never see it ready."""
    assert life.dead == {}
    assert life.unready.keys() == {"cycle", "samples"}
    life.go_on(60)
    assert life.unready == {}


def test_a_start_that_hangs_is_told_before_any_loop_has_begun(life: Life) -> None:
    """The first Spark may need a minute or two; without this, one that never comes would count as healthy for ever."""
    life.now += timedelta(minutes=10)
    assert life.dead == {}
    life.now += timedelta(seconds=10)
    assert life.dead == {"loops": "none has begun since the start at 2026-01-01T00:00:00+00:00"}
    assert life.go_on(10).dead == {}


def test_a_collector_that_hangs_is_told_after_ten_minutes(life: Life) -> None:
    """Not sooner: a cluster that does not answer makes it slow, not hang. It is named, with its last sign of life."""
    life.go_on(60).hanging.add(Work.COLLECT)
    assert life.go_on(600).dead == {}
    assert life.go_on(10).dead == {
        "loops": "collecting from prod has not begun anew since 2026-01-01T00:01:00+00:00, and should every 10 s"
    }
    life.hanging.clear()
    assert life.go_on(10).dead == {}


def test_one_clusters_loop_hangs_while_anothers_goes_on(life: Life) -> None:
    """Each is counted by itself."""
    life.board.vitals.began(Beat(work=Work.COLLECT, of="lab", at=life.now, interval=COLLECT))
    assert "collecting from lab" in life.go_on(610).dead["loops"]
    assert "prod" not in life.dead["loops"]


def test_a_cycle_may_wait_for_its_evaluation(life: Life) -> None:
    """It has minutes for that, so five intervals of half a minute are no hang."""
    life.go_on(60).hanging.add(Work.DECIDE)
    assert life.go_on(600).dead == {}
    assert "deciding" in life.go_on(10).dead["loops"]


def test_an_evaluation_that_never_ends_is_told_though_cycles_go_on_without(life: Life) -> None:
    """Each of them only says that it got no answer: for ever, until somebody starts the process anew."""
    with life.board.vitals.evaluating():
        assert life.go_on(600).dead == {}
        assert "that began at 2026-01-01T00:00:00+00:00" in life.go_on(10).dead["evaluation"]
    assert life.dead == {}


def test_an_evaluation_that_was_abandoned_holds_up_nothing(life: Life) -> None:
    """A later one has succeeded, so its end is of no account, whenever it comes; another evaluator's says nothing."""
    vitals = life.board.vitals
    with suppress(UnreachableError), vitals.evaluating("cycles"):
        with vitals.evaluating("early"):
            life.go_on(610)
        assert "has not come to an end" in life.dead["evaluation"]
        with vitals.evaluating("cycles"):
            pass
        assert life.dead == {}
        message = "its job was cancelled"
        raise UnreachableError(message)
    assert life.unready == {}


def test_a_failed_cycle_makes_it_not_ready_until_one_goes_well(life: Life) -> None:
    """It lives all the same."""
    life.go_on(60).end(Work.DECIDE, failed=True)
    assert "failed as a whole" in life.unready["cycle"]
    assert life.dead == {}
    assert life.go_on(30).unready == {}


def test_cycles_that_cannot_evaluate_make_it_not_ready(life: Life) -> None:
    """They go well as far as they go, since each job is told why it waits; but nobody is looked after."""
    with suppress(UnreachableError), life.go_on(60).board.vitals.evaluating():
        message = "Java is gone"
        raise UnreachableError(message)
    assert life.go_on(60).unready == {"cycle": "jobs could not be evaluated: Java is gone"}
    assert life.dead == {}
    with life.board.vitals.evaluating():
        pass
    assert life.unready == {}


def test_a_state_store_that_does_not_answer(life: Life) -> None:
    """With its own words, from the first call that was not answered to the first that was."""
    life.go_on(60).board.vitals.asked_store("connection refused")
    assert life.unready == {"state-store": "the state store does not answer: connection refused"}
    began = life.now
    assert life.go_on(60).since("state-store") == began
    life.board.vitals.asked_store(None)
    assert life.unready == {}
    assert life.since("state-store") == life.now


def test_since_when_is_known_though_nobody_asked(life: Life) -> None:
    """Every tick looks: a person who comes an hour later reads when it began."""
    life.go_on(60).board.vitals.asked_store("connection refused")
    began = life.now + timedelta(seconds=10)
    assert life.go_on(3600).since("state-store") == began


def test_samples_that_are_all_stale(life: Life) -> None:
    """A minute without any; a cluster without a running job has none to give, and is no complaint."""
    life.go_on(60).sampling = False
    assert life.go_on(60).unready == {}
    assert life.go_on(10).unready == {"samples": "no cluster gives samples; the newest is of 2026-01-01T00:01:00+00:00"}
    life.idle = True
    assert life.go_on(10).unready == {}


def test_one_cluster_that_gives_samples_is_enough(life: Life) -> None:
    """What does not answer is that cluster's matter, and has its own metric."""
    life.board.vitals.expect(["prod", "lab"])
    assert life.go_on(600).unready == {}


def test_a_service_without_clusters_waits_for_no_samples() -> None:
    """It only takes in what agents report."""
    life = Life()
    life.board = Board(lambda: life.now)
    life.end(Work.DECIDE)
    assert life.unready == {}


@pytest.mark.parametrize(
    ("held", "others", "ready"), [(64, 0, True), (32, 32, True), (0, 64, True), (0, 1, True), (0, 0, False)]
)
def test_who_holds_nothing_is_ready_as_long_as_somebody_does(
    life: Life, *, held: int, others: int, ready: bool
) -> None:
    """It waits for another's part, and takes it over within seconds; where nobody holds any, jobs are on their own."""
    standing = LeaseStanding(shards=64, held=held, others=others, expires_at=None)
    life.go_on(60).board.vitals.divide(lambda: standing)
    assert ("leases" not in life.unready) == ready
    assert life.dead == {}


def test_a_service_that_stops_is_not_ready_and_lives(life: Life) -> None:
    """Its loops end one by one, however long the last one takes: how long that may be is bounded elsewhere."""
    life.go_on(60).board.vitals.stop()
    life.hanging |= {Work.COLLECT, Work.DECIDE}
    life.now += timedelta(seconds=3600)
    assert life.dead == {}
    assert life.unready["staying"] == "the service was told to stop"
