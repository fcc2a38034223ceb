"""All jobs at a glance: what the log and the store say, a row a job."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.overview.conftest import GRAPH, INTERVAL, Service, decided, kept, made, waiting

from headgate.algorithm.decide import decide
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure
from headgate.model.metrics import NotReady
from headgate.model.orders import Given
from headgate.model.reasons import Reason
from headgate.model.rollback import Rollback, Run, Trial
from headgate.model.state import Intent, JobState, ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions
from headgate.overview.fleet import look
from headgate.overview.row import Advice, Attention, Busiest, Change, Doing, JobRow, Lag, Standing, Trend
from headgate.samplelog.compaction import compact
from headgate.stores.sql import SqlStateStore
from headgate.testing.builders import ORDERS, at, sample

PAYMENTS = JobKey("prod", "payments")
AGG = VertexId("agg")
RUN = Run(job_id="j1", fingerprint="f", parallelism={AGG: 4})
INTENT = Intent(
    decision_id="d1", decided_at=at(0), job_id="j1", fingerprint="f", before={AGG: 4}, after={AGG: 6}, deadline=at(300)
)
TRIAL = Trial(decision_id="d1", began_at=at(0), before=RUN, after={AGG: 6})
ROLLBACK = Rollback(decision_id="d1", at=at(0), run=RUN, target={AGG: 4}, why="it fell over")
PAUSE = Given(at=at(0), by="anna@laptop", why="the month's end")


def row_of(service: Service, second: float, job: JobKey = ORDERS) -> JobRow:
    """Look at one job."""
    return next(row for row in service.at_a_glance(second).rows if row.job == job)


def test_a_row_says_what_the_last_decision_saw(service: Service) -> None:
    """How many subtasks, who is busiest, how far behind and where that goes, and what would be done."""
    service.decides(decided(0, factor=2.0, lag=4_000.0))
    service.decides(decided(300, factor=2.0, lag=6_000.0, load=0.9))
    row = row_of(service, 310)
    assert row.parallelism == 6
    assert row.busiest == Busiest(name="agg", load=0.9, parallelism=4)
    assert row.lag == Lag(records=6_000.0, seconds=60.0, trend=Trend.GROWING)
    assert row.advice == Advice(doing=Doing.ADVISED, at=at(300), changes=(Change(name="agg", before=4, after=8),))
    assert (row.standing, row.attention, row.age_s) == ((Standing.RUNNING,), Attention.MOVING, 10.0)


@pytest.mark.parametrize(
    ("before", "now", "trend"),
    [(100.0, 102.0, Trend.STEADY), (100.0, 50.0, Trend.SHRINKING), (100.0, 200.0, Trend.GROWING)],
)
def test_a_lag_has_a_trend(service: Service, before: float, now: float, trend: Trend) -> None:
    """Against what it was five minutes before; what hardly moves goes nowhere."""
    service.decides(decided(0, lag=before))
    service.decides(decided(300, lag=now))
    lag = row_of(service, 300).lag
    assert lag is not None
    assert lag.trend is trend


def test_a_job_that_is_held_says_by_what(service: Service) -> None:
    """In a few words; the numbers are in its message."""
    service.decides(decided(0, factor=3.0, most=4), decided(0, job=PAYMENTS))
    assert row_of(service, 1).why == "limited: max parallelism"
    assert row_of(service, 1).attention is Attention.HELD
    assert row_of(service, 1, PAYMENTS).why == "balanced"
    assert row_of(service, 1, PAYMENTS).attention is Attention.CALM


@pytest.mark.parametrize(
    ("state", "standing"),
    [
        (JobState(intent=INTENT), (Standing.RESCALING,)),
        (JobState(intent=replace(INTENT, takes_back="d0")), (Standing.ROLLING_BACK,)),
        (JobState(trial=TRIAL), (Standing.ON_TRIAL,)),
        (JobState(rollback=ROLLBACK), (Standing.ROLLED_BACK,)),
        (JobState(intent=replace(INTENT, trial=TRIAL)), (Standing.RESCALING, Standing.ON_TRIAL)),
    ],
    ids=["in flight", "taking back", "on trial", "taken back", "in flight and on trial"],
)
def test_a_job_stands_as_the_store_says(service: Service, state: JobState, standing: tuple[Standing, ...]) -> None:
    """The numbers of its last decision do not tell."""
    service.decides(decided(0))
    service.remembers(state)
    assert row_of(service, 1).standing == standing


def test_a_job_that_cannot_be_judged_alarms(service: Service) -> None:
    """One that is not running, and one that does not answer."""
    service.decides(waiting(0, Reason.JOB_NOT_RUNNING), waiting(0, Reason.JOB_UNREACHABLE, job=PAYMENTS))
    assert row_of(service, 1).standing == (Standing.NOT_RUNNING,)
    assert row_of(service, 1, PAYMENTS).standing == (Standing.UNREACHABLE,)
    assert {row.attention for row in service.at_a_glance(1).rows} == {Attention.ALARM}


def test_a_pause_is_told_with_its_giver(service: Service) -> None:
    """For the job, or for all; whatever else holds is told beside it."""
    service.decides(decided(0), waiting(0, Reason.JOB_NOT_RUNNING, job=PAYMENTS))
    service.store.change_orders(PAYMENTS, lambda orders: replace(orders, pause=PAUSE))
    paused = row_of(service, 1, PAYMENTS)
    assert paused.standing == (Standing.NOT_RUNNING, Standing.PAUSED)
    assert paused.why == "paused by anna@laptop: the month's end"
    assert row_of(service, 1).pause is None
    service.store.change_orders(None, lambda orders: replace(orders, pause=PAUSE))
    assert row_of(service, 1).standing == (Standing.PAUSED,)
    assert "everything is paused by anna@laptop: the month's end" in service.at_a_glance(1).notes


def test_a_pause_is_told_by_its_decisions_where_the_store_is_silent(service: Service) -> None:
    """Who gave it stands in the decision's message."""
    service.decides(kept(0, Reason.PAUSED, "paused by anna@laptop"))
    (row,) = look(service.reader, None, at(1), interval=INTERVAL).rows
    assert (row.standing, row.attention, row.why) == ((Standing.PAUSED,), Attention.HELD, "paused")


def test_what_was_done_last_is_told_where_nothing_is_advised(service: Service) -> None:
    """By the names that the job's vertices have."""
    record = ScalingRecord(decision_id="d1", at=at(0), before={AGG: 2}, after={AGG: 4})
    service.decides(decided(600))
    service.remembers(JobState(history=(record,)))
    change = Change(name="agg", before=2, after=4)
    assert row_of(service, 600).advice == Advice(doing=Doing.DONE, at=at(0), changes=(change,))
    service.remembers(JobState(history=(record,), intent=INTENT))
    under_way = row_of(service, 600).advice
    assert under_way is not None
    assert (under_way.doing, under_way.changes) == (Doing.UNDER_WAY, (Change(name="agg", before=4, after=6),))


def test_a_rescale_that_was_just_made_is_under_way(service: Service) -> None:
    """Nothing keeps it from being scaled."""
    service.decides(made(0))
    row = row_of(service, 1)
    assert row.advice is not None
    assert (row.standing, row.advice.doing, row.why) == ((Standing.RESCALING,), Doing.UNDER_WAY, "")


def test_a_service_that_no_longer_decides_is_told_of(service: Service) -> None:
    """For all, and of each job how old its last decision is."""
    service.decides(decided(0))
    assert not row_of(service, 60).is_stale
    silent = service.at_a_glance(720)
    assert silent.notes[0].startswith("the service has not decided for 12 min.")
    assert [(row.is_stale, row.age_s, row.attention) for row in silent.rows] == [(True, 720.0, Attention.CALM)]


def test_a_log_without_a_decision_says_where_to_look(service: Service) -> None:
    """Most likely it is another one than the service's."""
    glance = service.at_a_glance(0)
    assert glance.rows == ()
    assert glance.notes[0].startswith("no decision is in the samples log. Hint: is `headgate run` running")


def test_one_process_that_ended_is_a_stale_job_among_others(service: Service) -> None:
    """And no longer one after a while: nobody looks after it, so it is not listed."""
    service.decides(decided(0, job=PAYMENTS), process="a")
    service.decides(decided(300), process="b")
    assert [(row.job, row.is_stale) for row in service.at_a_glance(310).rows] == [(ORDERS, False), (PAYMENTS, True)]
    assert row_of(service, 310, PAYMENTS).attention is Attention.ALARM
    service.decides(decided(1_200), process="b")
    assert [row.job for row in service.at_a_glance(1_200).rows] == [ORDERS]


def test_a_job_that_vanished_is_not_listed(service: Service) -> None:
    """Who still decides no longer decides on it."""
    service.decides(decided(0), decided(0, job=PAYMENTS))
    service.decides(decided(30))
    assert [row.job for row in service.at_a_glance(30).rows] == [ORDERS]


def test_a_log_that_was_compacted_meanwhile_says_the_same(service: Service) -> None:
    """As long as the service stands still, its last hour is put together by another one."""
    service.decides(decided(0, lag=100.0))
    service.decides(decided(300, lag=200.0))
    before = service.at_a_glance(8_000)
    compact(service.root / "log", at(8_000), closed_for=INTERVAL)
    assert service.at_a_glance(8_000) == before


def test_a_store_that_cannot_be_asked_spoils_nothing(service: Service) -> None:
    """It is said, and so is a service that keeps its memory to itself."""
    service.decides(decided(0))
    broken = SqlStateStore(f"sqlite:///{service.root}/none/headgate.db")
    for store, note in ((broken, "pauses, trials and rescales in flight are not known"), (None, "is `memory`")):
        glance = look(service.reader, store, at(1), interval=INTERVAL)
        assert [row.parallelism for row in glance.rows] == [6]
        assert note in glance.notes[0]
    broken.close()


def test_a_slow_service_s_job_is_stale_before_it_is_no_longer_listed(service: Service) -> None:
    """Where a cycle takes its time, so does the end of somebody else's."""
    hourly = timedelta(hours=1)
    service.decides(decided(0, job=PAYMENTS), process="a")
    service.decides(decided(5 * 3_600), process="b")
    glance = look(service.reader, service.store, at(5 * 3_600), interval=hourly)
    assert [(row.job, row.is_stale) for row in glance.rows] == [(ORDERS, False), (PAYMENTS, True)]


def test_a_lag_of_long_ago_makes_no_trend(service: Service) -> None:
    """After a service stood still, what was before says nothing of the last minutes."""
    service.decides(decided(0, lag=100.0))
    service.decides(decided(3_600, lag=200.0))
    lag = row_of(service, 3_600).lag
    assert lag is not None
    assert lag.trend is None


def test_a_job_whose_brokers_are_not_known_is_named_at_first_sight(service: Service) -> None:
    """While it settles, and for as long as it is decided on without them; with what to write into the file."""
    lacking = replace(sample(GRAPH), values={JobMeasure.BROKERS_UNKNOWN: 1.0})
    settling = NotReady(reason=Reason.STABILIZING, message="34 s of stabilization are left")
    service.decides(decide(lacking, settling, AutoscalerOptions(), at(0)), decided(0, job=PAYMENTS))
    assert_named(service, 1)

    decision = decided(30)
    assert decision.evaluated is not None
    without = replace(decision, evaluated=replace(decision.evaluated, brokers_unknown=True))
    service.decides(without, decided(30, job=PAYMENTS))
    assert_named(service, 31)

    service.decides(decided(60), decided(60, job=PAYMENTS))
    assert service.at_a_glance(61).notes == ()


def assert_named(service: Service, second: float) -> None:
    """Expect that one of the two jobs lacks its brokers, in a row for machines and in a note for people."""
    glance = service.at_a_glance(second)
    assert {row.job: row.brokers_unknown for row in glance.rows} == {ORDERS: True, PAYMENTS: False}
    (note,) = glance.notes
    assert note.startswith("prod/orders reads Kafka; its brokers are not known, ")
    assert 'kafka-clusters: [{name: main, url: "broker-1:9092,broker-2:9092", match: "prod/orders"}]' in note
