"""The engine's clock, stale answers, and counters that start anew."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headgate.engines.flink.counters import Counters
from headgate.engines.flink.look import Look, Reading, Seen, look

T0 = 1_700_000_000_000
AT = datetime(2026, 1, 1, tzinfo=UTC)
REFRESH = timedelta(seconds=10)


def reading(ran_s: float, *, records: float = 0.0, parallelism: int = 2, busy: float | None = 0.25) -> Reading:
    """Make the reading of tasks that have run for a while; without `busy` the clock is unknown."""
    total_ms = ran_s * 1000 * parallelism
    return Reading(
        counters=Counters(
            records_in=records,
            records_out=records,
            busy_ms=None if busy is None else total_ms * busy,
            idle_ms=total_ms * (1 - (busy or 0.0)),
            backpressured_ms=0.0,
        ),
        parallelism=parallelism,
        started_at_ms=T0,
        running_since_ms=T0,
        now_ms=T0 + 3_600_000,
        all_running=True,
    )


def at_tick(seen: Seen | None, now: Reading, tick_s: float) -> Look | None:
    """Look at a tick."""
    return look(seen, now, at=AT + timedelta(seconds=tick_s), refresh=REFRESH)


def first(now: Reading, tick_s: float = 0.0) -> Look:
    """Look for the first time."""
    found = at_tick(None, now, tick_s)
    assert found is not None
    return found


def test_the_clock_is_in_the_counters() -> None:
    """Two subtasks that were busy or idle for 30 s each were measured 30 s after their start, whenever we ask."""
    found = first(reading(30), tick_s=500)
    assert found.is_sample
    assert found.seen.measured_at == datetime.fromtimestamp(T0 / 1000 + 30, UTC)


def test_differences_are_exact_although_answers_are_old() -> None:
    """Ticks are 10 s apart, but the engine measured 13 s apart: 1,300 records are 100 a second."""
    before = first(reading(30, records=3_000), tick_s=0)
    now = at_tick(before.seen, reading(43, records=4_300), 10)
    assert now is not None
    assert now.elapsed_s == 13
    assert now.grown("records_in") == 1_300


def test_an_answer_that_is_repeated_is_stale() -> None:
    """The engine has not looked again; that is no rate of zero."""
    before = first(reading(30), tick_s=0)
    again = at_tick(before.seen, reading(30), 10)
    assert again is not None
    assert not again.is_sample


def test_an_idle_vertex_is_not_stale() -> None:
    """Its records stand still, its clock goes on."""
    before = first(reading(30, records=50, busy=0.0))
    now = at_tick(before.seen, reading(40, records=50, busy=0.0), 10)
    assert now is not None
    assert now.is_sample
    assert now.grown("records_in") == 0


def test_a_stale_first_answer_after_idling_is_harmless() -> None:
    """Values that are minutes old carry the time at which they held, so the next difference is exact."""
    old = first(reading(30, records=3_000), tick_s=600)
    now = at_tick(old.seen, reading(640, records=64_000), 610)
    assert now is not None
    assert now.grown("records_in") == 61_000
    assert now.elapsed_s == 610


def test_busy_time_alone_may_fall() -> None:
    """Flink books idle time afterwards: the busy time of a nearly idle vertex falls, which is no restart."""
    before = first(reading(30, busy=0.004))
    now = at_tick(before.seen, reading(31, busy=0.003), 1)
    assert now is not None
    assert now.grown("busy_ms") is not None
    assert now.seen.epoch == before.seen.epoch


def test_falling_counters_begin_an_epoch() -> None:
    """Records or the whole running time fall only when tasks start anew."""
    before = first(reading(30, records=3_000))
    for now in (reading(40, records=10), reading(5, records=3_000)):
        found = at_tick(before.seen, now, 10)
        assert found is not None
        assert found.seen.epoch == before.seen.epoch + 1
        assert found.before is None
        assert found.is_sample


def test_a_legacy_source_that_counts_anew_begins_an_epoch() -> None:
    """What it has written is all that it counts."""

    def written(records: float) -> Reading:
        return replace(reading(30), counters=Counters(records_in=0.0, records_out=records))

    before = first(written(3_000))
    found = at_tick(before.seen, written(10), 10)
    assert found is not None
    assert found.before is None
    assert found.seen.epoch == before.seen.epoch + 1


def test_a_new_start_or_parallelism_begins_an_epoch() -> None:
    """Even when no counter has fallen."""
    before = first(reading(30))
    restarted = replace(reading(40), started_at_ms=T0 + 20_000)
    wider = reading(40, parallelism=3)
    epochs = [found.seen.epoch for now in (restarted, wider) if (found := at_tick(before.seen, now, 10))]
    assert epochs == [T0 // 1000 + 20, T0 // 1000 + 1]


def test_a_partial_restart_leaves_the_clock_of_the_others_alone() -> None:
    """The job has been running again for a second, this vertex for a minute; it begins an epoch all the same."""
    before = first(reading(60))
    now = at_tick(before.seen, replace(reading(70), running_since_ms=T0 + 69_000, now_ms=T0 + 70_000), 10)
    assert now is not None
    assert now.is_sample
    assert now.seen.measured_at == datetime.fromtimestamp(T0 / 1000 + 70, UTC)
    assert now.seen.epoch == T0 // 1000 + 69


def test_an_epoch_is_the_same_after_headgate_starts_anew() -> None:
    """Rows of the log before and after belong together; those of an earlier run of the job never do."""
    assert first(reading(30)).seen.epoch == first(reading(70)).seen.epoch
    later = replace(reading(30), started_at_ms=T0 + 60_000)
    assert first(later).seen.epoch > first(reading(30)).seen.epoch


def test_counters_of_an_earlier_run_say_nothing() -> None:
    """Tasks that started ten seconds ago cannot have run for a minute: the engine shows what was before."""
    assert at_tick(None, replace(reading(60), now_ms=T0 + 10_000), 0) is None


def test_without_a_clock_the_first_answer_is_no_sample() -> None:
    """Nobody knows how old it is; what follows within the refresh interval is dated by the tick."""
    before = first(reading(30, records=10, busy=None))
    assert not before.is_sample
    now = at_tick(before.seen, reading(40, records=20, busy=None), 10)
    assert now is not None
    assert now.is_sample
    assert now.seen.measured_at == AT + timedelta(seconds=10)


def test_without_a_clock_unchanged_counters_are_believed_after_two_refreshes() -> None:
    """Until then they may be a repetition."""
    before = first(reading(30, busy=None)).seen
    same = reading(30, busy=None)
    samples = []
    for tick in (5, 15, 20, 30):
        found = at_tick(before, same, tick)
        assert found is not None
        before = found.seen
        samples.append(found.is_sample)
    assert samples == [False, False, False, True]


def test_without_a_clock_nothing_is_said_across_a_gap() -> None:
    """After a pause the answer may be as old as the pause."""
    before = first(reading(30, busy=None))
    now = at_tick(before.seen, reading(700, records=9, busy=None), 600)
    assert now is not None
    assert not now.is_sample


def test_subtasks_that_have_finished_stop_the_clock() -> None:
    """Their time stands still, so the sum no longer tells the time; the tick does."""
    found = first(replace(reading(30), all_running=False))
    assert found.seen.measured_at == AT
