"""What the stories of this folder are told with: samples of sources, and rates stretch by stretch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headgate.algorithm.arrival.stretches import SERIES, Stretches, stretches
from headgate.algorithm.columns import Column, Columns
from headgate.algorithm.stats import Floats, Ints
from headgate.model.lag import LagOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a source told at a tick; an engine measures when Headgate asks, unless told otherwise."""

    at_s: float
    read: float | None
    """Records since its counter began."""
    lag: float | None = None
    epoch: int = 0
    measured_s: float | None = None
    source: int = 0
    arrived: float | None = None
    """Records ever written, as their owner counts them."""
    waited_s: float | None = None
    """For how long the source has waited for records, since its counter began."""
    worked_s: float | None = None
    """For how long it has worked; it is held up by nobody."""
    origin: LagOrigin | None = None


def columns_of(rows: Sequence[Told]) -> tuple[Columns, Ints]:
    """Give samples as the algorithm reads them, and whose they are."""
    measured = [row.at_s if row.measured_s is None else row.measured_s for row in rows]
    numbers: tuple[Sequence[float | None], ...] = (
        [1000 * row.at_s for row in rows],
        [1000 * second for second in measured],
        [row.epoch for row in rows],
        [None if row.lag is None else 1000 * row.lag for row in rows],
        [None if row.read is None else 1000 * row.read for row in rows],
        [None if row.arrived is None else 1000 * row.arrived for row in rows],
        [None if row.origin is None else 1000 * row.origin for row in rows],
        [None if row.waited_s is None else 1_000_000 * row.waited_s for row in rows],
        [None if row.worked_s is None else 1_000_000 * row.worked_s for row in rows],
        [None if row.worked_s is None else 0.0 for row in rows],
    )
    columns = Columns(columns=dict(zip(SERIES, map(_column, numbers), strict=True)))
    return columns, np.array([row.source for row in rows], dtype=np.int64)


def _column(values: Sequence[float | None]) -> Column:
    return Column(
        values=np.array([round(value or 0) for value in values], dtype=np.int64),
        valid=np.array([value is not None for value in values], dtype=np.bool_),
    )


def stretches_of(rows: Sequence[Told], sources: int = 1) -> Stretches:
    """Give the stretches between samples."""
    return stretches(*columns_of(rows), sources)


def told(stretches: Stretches, source: int = 0) -> list[tuple[float, float]]:
    """Give seconds and records of each stretch of a source, oldest first."""
    known = stretches.known[source]
    pairs = zip(stretches.took_ms[source][known], stretches.came[source][known], strict=True)
    return [(took / 1000, came / 1000) for took, came in pairs]


def at_rates(rates: Floats, *, every_s: float = 2.0) -> Stretches:
    """Give stretches in which records come at these rates, (n, k), each measured for so long."""
    took = np.full(rates.shape, round(1000 * every_s), dtype=np.int64)
    return stretching(took, np.rint(1000 * every_s * rates).astype(np.int64))


def stretching(took_ms: Ints, came: Ints) -> Stretches:
    """Give stretches of sources that wait for records now and then."""
    return Stretches(took_ms=took_ms, came=came, saturated=np.zeros(took_ms.shape, dtype=np.bool_))


def noisy(rates: Floats | float, *, noise: float, shape: tuple[int, int], seed: int = 0, held: int = 1) -> Floats:
    """Draw rates that vary by a share of themselves, (n, k); each draw is held for so many stretches."""
    series, length = shape
    drawn = np.random.default_rng(seed).standard_normal((series, -(-length // held)))
    factors: Floats = 1 + noise * np.repeat(drawn, held, axis=1)[:, :length]
    return np.maximum(factors, 0.0) * rates


def levels(*parts: tuple[int, float]) -> Floats:
    """Give rates that are constant for so many stretches each, (1, k)."""
    return np.concatenate([np.full(count, float(rate)) for count, rate in parts])[None, :]
