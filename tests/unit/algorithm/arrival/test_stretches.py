"""What came into a source between one measurement and the next."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.algorithm.arrival.series import Told, stretches_of, told

from headgate.model.lag import LagOrigin


def test_lag_that_grows_is_input_too() -> None:
    """A source that reads 100/s while 50/s pile up has 150/s coming in; one that works off its lag has less."""
    rows = [Told(at_s=0, read=50, lag=0), Told(at_s=2, read=250, lag=100), Told(at_s=4, read=450, lag=40)]

    assert told(stretches_of(rows)) == [(2, 300), (2, 140)]


def test_a_source_without_lag_reads_what_comes() -> None:
    """A connector that never tells its lag counts as having none."""
    rows = [Told(at_s=second, read=100 * second) for second in range(2, 9, 2)]

    assert told(stretches_of(rows)) == [(2, 200)] * 3


def test_a_source_that_has_not_begun_tells_nothing() -> None:
    """It opens what it reads while seconds go by, and begins somewhere in a stretch: neither is what comes in."""
    rows = [Told(at_s=second, read=max(0, 100 * second - 250), lag=0) for second in range(7)]

    assert told(stretches_of(rows)) == [(1, 100)] * 3


def test_a_source_that_sees_what_waits_tells_what_comes() -> None:
    """After a restart it has read nothing yet either, but what piled up meanwhile grows by what comes in."""
    rows = [Told(at_s=0, read=0, lag=500), Told(at_s=1, read=0, lag=600), Told(at_s=2, read=300, lag=400)]

    assert told(stretches_of(rows)) == [(1, 100)] * 2


def test_a_source_that_reads_nothing_at_all_has_no_input() -> None:
    """A job may be started before anything is there to read."""
    rows = [Told(at_s=second, read=0, lag=0) for second in range(3)]

    assert told(stretches_of(rows)) == [(1, 0)] * 2


def test_a_counter_that_begins_anew_leaves_a_gap() -> None:
    """What came while the job was restarted is not known: no stretch leads across it, the others stay."""
    rows = [
        Told(at_s=0, read=1000),
        Told(at_s=2, read=1200),
        Told(at_s=8, read=50, epoch=1),
        Told(at_s=10, read=250, epoch=1),
    ]

    assert told(stretches_of(rows)) == [(2, 200), (2, 200)]


def test_a_lag_told_now_and_then_is_followed_from_one_time_to_the_next() -> None:
    """In between nobody knows how much of what was read came in, so it is one long stretch."""
    rows = [
        Told(at_s=0, read=0, lag=100),
        Told(at_s=2, read=200),
        Told(at_s=4, read=400),
        Told(at_s=6, read=600, lag=400),
    ]

    assert told(stretches_of(rows)) == [(6, 900)]


def test_a_sample_without_the_counter_tells_nothing() -> None:
    """The stretch goes on to the next one that has it."""
    rows = [Told(at_s=0, read=50), Told(at_s=2, read=None), Told(at_s=4, read=450)]

    assert told(stretches_of(rows)) == [(4, 400)]


def test_a_lag_that_is_told_late_may_make_a_stretch_negative() -> None:
    """It is known all the same, or what came before and after would be told too high."""
    rows = [Told(at_s=0, read=0, lag=500), Told(at_s=2, read=100, lag=0), Told(at_s=4, read=200, lag=500)]

    assert told(stretches_of(rows)) == [(2, -400), (2, 600)]


def test_an_engine_that_did_not_measure_again_adds_nothing() -> None:
    """The time that counts is the engine's own: a sample that says the same as the one before is none."""
    rows = [
        Told(at_s=0, read=50, measured_s=0),
        Told(at_s=2, read=50, measured_s=0),
        Told(at_s=4, read=350, measured_s=3),
        Told(at_s=6, read=350, measured_s=3),
        Told(at_s=8, read=650, measured_s=6),
    ]

    assert told(stretches_of(rows)) == [(3, 300), (3, 300)]


def test_the_order_of_rows_does_not_matter() -> None:
    """A log is read from several files, and its rows come as they come."""
    rows = [
        Told(at_s=2 * tick, read=100 * tick * (source + 1), lag=7 * tick, epoch=tick // 5, source=source)
        for tick in range(12)
        for source in range(3)
    ]
    shuffled = [rows[place] for place in np.random.default_rng(1).permutation(len(rows))]

    one, other = stretches_of(rows, 3), stretches_of(shuffled, 3)

    assert np.array_equal(one.took_ms, other.took_ms)
    assert np.array_equal(one.came, other.came)


def test_each_source_has_its_own_beside_the_others() -> None:
    """The newest stands at the right; who has fewer, or none at all, has nothing at the left."""
    rows = [
        *(Told(at_s=second, read=50 + 100 * second) for second in range(0, 7, 2)),
        *(Told(at_s=second, read=10 * second, source=2) for second in (4, 6)),
        Told(at_s=6, read=1, source=3),
    ]

    found = stretches_of(rows, 4)

    assert found.width == 3
    assert found.known.tolist() == [[True] * 3, [False] * 3, [False, False, True], [False] * 3]
    assert told(found, 2) == [(2, 20)]


def test_nothing_told_is_no_stretch() -> None:
    """The first look at a job comes before its second sample."""
    assert stretches_of([], 2).known.shape == (2, 0)
    assert stretches_of([Told(at_s=0, read=5)]).width == 0


def test_what_is_counted_where_it_is_written_is_not_inferred() -> None:
    """The source reads nothing for a while, and its connector tells of no lag: what came in came in all the same."""
    rows = [
        Told(at_s=0, read=1000, lag=0, arrived=5000),
        Told(at_s=2, read=1000, lag=0, arrived=5400),
        Told(at_s=4, read=2500, lag=0, arrived=5800),
    ]

    assert told(stretches_of(rows)) == [(2, 400), (2, 400)]


def test_another_count_is_no_growth() -> None:
    """With other partitions, after a restart, or where a count fell begins another epoch."""
    rows = [
        Told(at_s=0, arrived=5000, read=None),
        Told(at_s=2, arrived=900_000, read=None, epoch=1),
        Told(at_s=4, arrived=900_400, read=None, epoch=1),
        Told(at_s=6, arrived=100, read=None, epoch=2),
        Told(at_s=8, arrived=500, read=None, epoch=2),
    ]

    assert told(stretches_of(rows)) == [(2, 400), (2, 400)]


def test_where_it_is_not_counted_it_is_inferred() -> None:
    """The two are not mixed: with another lag begins another epoch."""
    rows = [Told(at_s=second, read=100 * second, lag=9000, arrived=200 * second) for second in (0, 10)]
    rows += [Told(at_s=second, read=100 * second, lag=0, epoch=1) for second in (40, 50)]

    assert told(stretches_of(rows)) == [(10, 2000), (10, 1000)]


def test_one_that_counts_and_one_that_does_not_stand_side_by_side() -> None:
    """Each source is told by its own."""
    rows = [
        Told(at_s=0, read=50, source=1),
        Told(at_s=0, read=0, arrived=0),
        Told(at_s=2, read=350, source=1),
        Told(at_s=2, read=100, arrived=900),
    ]
    found = stretches_of(rows, sources=2)

    assert (told(found, 0), told(found, 1)) == ([(2, 900)], [(2, 300)])


def _held_up(
    *lags: float | None, waits: float = 0.0, works: bool = True, origin: LagOrigin | None = None
) -> list[Told]:
    """Give a source that reads 100/s, tells these lags, one a second, and waits for a share of its time."""
    return [
        Told(
            at_s=second,
            read=500 + 100 * second,
            lag=lag,
            waited_s=7 + waits * second,
            worked_s=9 + works * (1 - waits) * second,
            origin=origin,
        )
        for second, lag in enumerate(lags)
    ]


@pytest.mark.parametrize("lags", [(0, 0, 0), (70, 70, 70), (None, None, None), (50, 51, 52)])
def test_a_source_that_never_waits_and_sees_no_lag_move_is_saturated(lags: tuple[float | None, ...]) -> None:
    """What it reads is what it can read: more may come in, and no gauge tells."""
    found = stretches_of(_held_up(*lags))

    assert found.saturated.tolist() == [[True, True]]
    assert [round(came, -1) for _, came in told(found)] == [100, 100]


def test_a_source_that_waits_has_read_all_there_was() -> None:
    """A fiftieth of its time is enough to tell."""
    assert stretches_of(_held_up(0, 0, 0, waits=0.02)).saturated.tolist() == [[False, False]]


def test_a_source_whose_times_are_not_measured_is_not_known_to_be_held_up() -> None:
    """Those of the old kind do not tell that they wait, nor that they work."""
    assert stretches_of(_held_up(0, 0, 0, works=False)).saturated.tolist() == [[False, False]]


def test_a_lag_that_moves_tells_what_comes_in() -> None:
    """Then more is known than that it is more: 150/s, or 60/s where a backlog is worked off."""
    found = stretches_of(_held_up(0, 50, 10))

    assert found.saturated.tolist() == [[False, False]]
    assert told(found) == [(1, 150), (1, 60)]


def test_a_lag_that_is_doubted_is_not_used() -> None:
    """A connector that fetches far ahead sees it rise and fall, whatever comes in."""
    found = stretches_of(_held_up(0, 5000, 100, origin=LagOrigin.DOUBTED))

    assert found.saturated.tolist() == [[True, True]]
    assert told(found) == [(1, 100), (1, 100)]


def test_what_is_counted_where_it_is_written_is_known_however_little_is_read() -> None:
    """The ends of partitions tell, so nothing need be assumed."""
    rows = [Told(at_s=at_s, read=100 * at_s, arrived=900 * at_s, waited_s=1.0, worked_s=at_s) for at_s in (1, 2)]

    found = stretches_of(rows)

    assert (told(found), found.saturated.tolist()) == ([(1, 900)], [[False]])
