"""How long a rescale stops a job: a line over its state, learnt from what was seen, leaning on others."""

from __future__ import annotations

import numpy as np
import pytest

from headgate.algorithm.downtime import KINDS, Learnt, Lines, Rescales, fit, fit_series, predict, reaching

GB = 1e9
PRIOR = reaching(
    base_s=np.array([0.3, 1.0]),
    per_byte_s=np.array([2e-9, 2e-9]),
    spread=np.array([0.5, 0.5]),
    count=np.array([20.0, 20.0]),
)

Row = tuple[float, float, int]
"""State in bytes, downtime in seconds, place of the job."""


def _rescales(rows: list[Row], *, redeploy: bool = False) -> Rescales:
    state, took, job = zip(*rows, strict=True) if rows else ((), (), ())
    return Rescales(
        state_bytes=np.array(state, dtype=np.float64),
        downtime_s=np.array(took, dtype=np.float64),
        job=np.array(job, dtype=np.int64),
        redeploy=np.full(len(rows), redeploy),
    )


def _learnt(rows: list[Row], clusters: tuple[int, ...] = (0,), *, redeploy: bool = False) -> Learnt:
    return fit(_rescales(rows, redeploy=redeploy), np.array(clusters, dtype=np.int64), PRIOR)


def _predicted(lines: Lines, place: int = 0, state: float = 0.0, *, redeploy: bool = False) -> tuple[float, ...]:
    line = lines.at(np.array([KINDS * place + redeploy]))
    return tuple(float(each[0]) for each in predict(line, np.array([state])))


def test_one_rescale_has_the_size_and_the_prior_the_shape() -> None:
    """A machine on which loading nothing takes ten times as long is taken to load ten times as slowly."""
    lines = _learnt([(0.0, 3.0, 0)]).jobs

    expected, low, high = _predicted(lines)
    assert expected == pytest.approx(3.0)
    assert low < 3.0 < high
    assert _predicted(lines, state=GB)[0] == pytest.approx(10 * (0.3 + 2.0))


def test_many_rescales_of_different_states_have_their_own_shape() -> None:
    """The prior says that loading a gigabyte is seven times the rest; this job takes no longer for it."""
    rows = [(state * GB, 10.0, 0) for state in np.linspace(0, 5, 200)]

    assert _predicted(_learnt(rows).jobs, state=5 * GB)[0] == pytest.approx(10.0, rel=0.1)


def test_an_outage_among_rescales_does_not_matter() -> None:
    """One of twenty took an hour, the others two seconds."""
    clean = _predicted(_learnt([(0.0, 2.0, 0)] * 20).jobs)
    spoilt = _predicted(_learnt([(0.0, 2.0, 0)] * 20 + [(0.0, 3_600.0, 0)]).jobs)

    assert spoilt == pytest.approx(clean, rel=0.02)


def test_a_kind_and_a_cluster_that_were_never_seen_are_unknown() -> None:
    """Redeploys say nothing of rescales in place, one cluster nothing of another, and the prior nothing at all."""
    learnt = _learnt([(0.0, 20.0, 0)], (0, 1), redeploy=True)

    assert _predicted(learnt.jobs, redeploy=True)[0] == pytest.approx(20.0)
    assert np.isnan(_predicted(learnt.jobs)).all()
    assert np.isnan(_predicted(learnt.jobs, 1, redeploy=True)).all()


def test_a_job_leans_on_its_cluster_until_it_has_rescales_of_its_own() -> None:
    """Of a slow job among quick ones: nothing, one, and twenty rescales."""
    others = [(0.0, 2.0, job) for job in range(1, 21) for _ in range(3)]
    said = [_predicted(_learnt(others + [(0.0, 30.0, 0)] * own, (0,) * 21).jobs)[0] for own in (0, 1, 20)]

    assert said[0] == pytest.approx(2.0)
    assert 2.0 < said[1] < 15.0
    assert said[2] > 25.0


def test_an_estimate_far_off_has_an_interval_that_reaches_there() -> None:
    """The first rescale of a job that is nothing like its cluster: expected halfway, possible all the same."""
    others = [(0.0, 2.0, job) for job in range(1, 21) for _ in range(3)]

    expected, _, high = _predicted(_learnt([*others, (0.0, 30.0, 0)], (0,) * 21).jobs)

    assert expected < 15.0
    assert high > 30.0


def test_nine_of_ten_rescales_stay_within_the_interval() -> None:
    """Those that come after, of forty jobs with thirty before."""
    chance = np.random.default_rng(7)
    before, later = chance.lognormal(1.0, 0.3, (40, 30)), chance.lognormal(1.0, 0.3, (40, 500))
    inside = []
    for job in range(40):
        _, low, high = _predicted(_learnt([(0.0, took, 0) for took in before[job].tolist()]).jobs)
        inside.append(np.mean((later[job] >= low) & (later[job] <= high)))

    assert 0.87 < float(np.mean(inside)) < 0.95


def test_a_series_is_learnt_as_it_is() -> None:
    """Base and slope of each kind, and a spread."""
    state = np.tile([0.0, 1e7, 1e8, 5e8], 6)
    noise = np.random.default_rng(1).lognormal(0.0, 0.1, 24)
    series = Rescales(
        state_bytes=np.tile(state, 2),
        downtime_s=np.concatenate([(0.3 + 3e-9 * state) * noise, (1.2 + 4e-9 * state) * noise]),
        job=np.zeros(48, dtype=np.int64),
        redeploy=np.repeat([False, True], 24),
    )

    prior = fit_series(series)

    assert prior.base_s == pytest.approx([0.3, 1.2], rel=0.15)
    assert prior.per_byte_s == pytest.approx([3e-9, 4e-9], rel=0.15)
    assert (prior.spread > 0.03).all()
    assert (prior.spread < 0.3).all()


def test_a_fleet_is_learnt_as_its_jobs_are_one_by_one() -> None:
    """Clusters know nothing of each other."""
    chance = np.random.default_rng(3)
    rows = [(float(chance.uniform(0, GB)), float(chance.lognormal(0, 1)), job) for job in range(5) for _ in range(4)]
    together = _learnt(rows, tuple(range(5))).jobs

    for job in range(5):
        alone = _learnt([(state, took, 0) for state, took, of in rows if of == job]).jobs
        assert _predicted(together, job, GB) == _predicted(alone, 0, GB)


def test_nothing_seen_is_no_error() -> None:
    """Neither rescales nor jobs."""
    assert np.isnan(_predicted(_learnt([]).jobs)).all()
    assert _learnt([], ()).jobs.count.size == 0
