"""
How long a rescale stops a job, learnt from rescales that were seen: `downtime = base + per_byte * state`, an interval.

A line for each job and each cluster, one for rescales in place and one for redeploys. A job leans on its cluster, a
cluster on the shape of a prior, the less the more was seen. Medians throughout: an outage of an hour among rescales of
two seconds changes nothing, and neither does the order in which they come. What is unknown is NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from headgate.algorithm.stats import Bools, Floats, Ints

KINDS = 2
"""In place and redeploy, in this order: line `KINDS * place + redeploy` is of one kind and of one job or cluster."""

LONGEST_S = 86_400.0
"""What took more than a day was no restart."""

_LARGEST = 1e18
"""Bytes: no state is larger."""

_SHORTEST_S = 1e-3
"""Less is not measured, and a logarithm needs something."""

_LEAST_PER_BYTE_S = 1e-12
"""A second for a terabyte: a prior that says less would keep a cluster from learning more."""

_LEAN_SHAPE = 1.0
"""How much must be seen of small and large states, see `_tilt`, to be believed as much as the parent's shape."""

_LEAN_JOB = 3.0
"""Rescales of a job that count as much as its cluster's line."""

_LEAN_SPREAD = 4.0
"""Rescales that tell as much of the spread as the parent's does."""

_MOST, _MOST_DEVIATIONS = 0.85, 1.4395
"""So many values of a normal distribution lie within so many standard deviations of its middle."""

_MEDIAN_DEVIATIONS = 0.6745
"""Half of them lie within so many."""

_FEW = 7
"""Of fewer values a single one is more than what `_MOST` leaves out."""

_NORMAL = 1.6449
"""Standard deviations on either side between which 9 of 10 values of a normal distribution lie."""

_FARTHEST = 10.0
"""The most that an interval reaches as a logarithm: a factor of 22,000 says nothing, but does not overflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescales:
    """Rescales that were seen, one a row. Rows that cannot be are left out: negative, no numbers, more than a day."""

    state_bytes: Floats
    """Size of the state that the job had to load."""
    downtime_s: Floats
    job: Ints
    """Place of the job, from 0."""
    redeploy: Bools
    """Whether the job was stopped and started anew, and not rescaled in place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Lines of downtime over state, with the interval around them. Every array has shape (n,)."""

    base_s: Floats
    """Seconds without any state, above 0."""
    per_byte_s: Floats
    """Seconds for each byte of state, above 0."""
    spread: Floats
    """Standard deviation of the logarithm of what was seen over what the line says."""
    reach: Floats
    """How far the interval goes to either side, as a logarithm."""
    count: Floats
    """Rescales that the line was learnt from."""

    def at(self, line: Ints) -> Lines:
        """Give the lines of these places, in their order."""
        return Lines(
            base_s=self.base_s[line],
            per_byte_s=self.per_byte_s[line],
            spread=self.spread[line],
            reach=self.reach[line],
            count=self.count[line],
        )

    def each(self) -> tuple[Line, ...]:
        """Give every line by itself."""
        columns = (self.base_s, self.per_byte_s, self.reach, self.count)
        return tuple(map(Line, *(column.tolist() for column in columns)))


@dataclass(frozen=True, slots=True)
class Line:
    """One of `Lines`, to be asked about one job: arrays of one element cost twenty times as much as numbers."""

    base_s: float
    per_byte_s: float
    reach: float
    count: float

    def predict(self, state_bytes: float) -> tuple[float, float, float]:
        """Give what `predict` gives, none of it longer than `LONGEST_S`."""
        expected, factor = self.base_s + self.per_byte_s * state_bytes, math.exp(self.reach)
        return min(expected, LONGEST_S), min(expected / factor, LONGEST_S), min(expected * factor, LONGEST_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """What was learnt of a fleet: `KINDS` lines for each job and for each cluster, NaN for one never seen so."""

    jobs: Lines
    clusters: Lines


def fit(seen: Rescales, cluster_of: Ints, prior: Lines) -> Learnt:
    """
    Learn from rescales.

    A cluster's line has the size of what was seen of it, for the prior is another machine's: nothing seen, nothing
    known. The prior lends its shape, how much is base and how much state, and its spread.

    Args:
        seen: in any order.
        cluster_of: place of each job's cluster, from 0, for every job that there is.
        prior: `KINDS` lines, all above 0.
    """
    seen = _sound(seen)
    count = int(cluster_of.max(initial=-1)) + 1
    parents = prior.at(np.tile(np.arange(KINDS), count))
    clusters = _learn(_Rows.of(seen, cluster_of[seen.job]), parents, lean=0.0)
    jobs = _learn(_Rows.of(seen, seen.job), clusters.at(lines_of(cluster_of)), lean=_LEAN_JOB)
    # A job is a part of its cluster, which knows more of how far off rescales can be.
    known = clusters.count[lines_of(cluster_of)]
    return Learnt(jobs=replace(jobs, reach=_reach(jobs.spread, known)), clusters=clusters)


def fit_series(seen: Rescales) -> Lines:
    """Learn a prior, `KINDS` lines, from a series alone; a kind of which nothing was seen is NaN."""
    rows = _Rows.of(_sound(seen), np.zeros_like(_sound(seen).job))
    per_byte = np.maximum(_slope(rows, KINDS), _LEAST_PER_BYTE_S)
    base = np.maximum(_median(rows.line, rows.took_s - per_byte[rows.line] * rows.state, KINDS), _SHORTEST_S)
    count = np.bincount(rows.line, minlength=KINDS).astype(np.float64)
    spread = _deviation(rows, base, per_byte)
    return reaching(base_s=base, per_byte_s=per_byte, spread=spread, count=count)


def predict(lines: Lines, state_bytes: Floats) -> tuple[Floats, Floats, Floats]:
    """
    Give the downtime to be expected, and the bounds between which 9 of 10 rescales stay, in seconds.

    All three grow with the state. They are NaN where the line is, or the state.
    """
    expected = lines.base_s + lines.per_byte_s * state_bytes
    factor = np.exp(lines.reach)
    return expected, expected / factor, expected * factor


def lines_of(places: Ints) -> Ints:
    """Give the `KINDS` lines of each place, one after the other."""
    lines: Ints = (KINDS * places[:, np.newaxis] + np.arange(KINDS)).ravel()
    return lines


def _sound(seen: Rescales) -> Rescales:
    state, took = np.rint(seen.state_bytes), seen.downtime_s
    kept = (state >= 0) & (state <= _LARGEST) & (took >= 0) & (took <= LONGEST_S)
    return Rescales(
        state_bytes=state[kept],
        downtime_s=np.maximum(took[kept], _SHORTEST_S),
        job=seen.job[kept],
        redeploy=seen.redeploy[kept],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """What was seen, by line, state and time: no sum over it depends on the order in which it came."""

    line: Ints
    state: Floats
    took_s: Floats

    @classmethod
    def of(cls, seen: Rescales, place: Ints) -> _Rows:
        line = KINDS * place + seen.redeploy
        order = np.lexsort((seen.downtime_s, seen.state_bytes, line))
        return cls(line=line[order], state=seen.state_bytes[order], took_s=seen.downtime_s[order])


def _learn(rows: _Rows, parents: Lines, *, lean: float) -> Lines:
    """Give each line as its rows tell, leaning on its parent with the weight of so many of them."""
    count = np.bincount(rows.line, minlength=len(parents.count)).astype(np.float64)
    base, per_byte = _own(rows, parents)
    base = _between(base, parents.base_s, count, lean)
    per_byte = _between(per_byte, parents.per_byte_s, count, lean)
    inherited = parents.spread * np.sqrt(_LEAN_SPREAD / (_LEAN_SPREAD + count))
    spread = np.hypot(np.nan_to_num(_deviation(rows, base, per_byte)), inherited)
    return reaching(base_s=base, per_byte_s=per_byte, spread=spread, count=count)


def _own(rows: _Rows, parents: Lines) -> tuple[Floats, Floats]:
    """
    Give base and slope as each line's own rows tell; of the shape they may tell little, the rest is the parent's.

    The slope is a median of slopes, the base the median of what the slope leaves; the median of the ratios of what was
    seen to the line puts it in the middle.
    """
    lines, line = len(parents.count), rows.line
    expected = parents.base_s[line] + parents.per_byte_s[line] * rows.state
    size = _median(line, rows.took_s / expected, lines)
    slope = np.maximum(_slope(rows, lines), 0.0)
    weight = np.where(np.isnan(slope), 0.0, _tilt(rows, parents))
    per_byte = _between(slope, size * parents.per_byte_s, weight, _LEAN_SHAPE)
    rest = np.maximum(_median(line, rows.took_s - per_byte[line] * rows.state, lines), 0.0)
    base = _between(rest, size * parents.base_s, weight, _LEAN_SHAPE)
    middle = _median(line, rows.took_s / (base[line] + per_byte[line] * rows.state), lines)
    return base * middle, per_byte * middle


def _between(own: Floats, parents: Floats, weight: Floats, lean: float) -> Floats:
    """Give the weighted mean of what is a line's own and its parent's; NaN without any weight."""
    total = weight + lean
    known = weight * np.where(weight > 0, own, 0.0) + (lean * parents if lean else 0.0)
    mean: Floats = np.divide(known, total, out=np.full_like(total, np.nan), where=total > 0)
    return mean


def _tilt(rows: _Rows, parents: Lines) -> Floats:
    """
    Give how much rows tell of a line's shape: how different their states are, and how much of it all is loading.

    It is the sum of squares of the states around their mean, the largest as 1, times the share of loading that the
    parent sees in the largest. Four rescales, two without state and two that do nothing but load, make 1.
    """
    lines, line = len(parents.count), rows.line
    largest = np.zeros(lines)
    np.maximum.at(largest, line, rows.state)
    size = rows.state / np.maximum(largest, 1.0)[line]
    mean = _sum(line, size, lines) / np.maximum(_sum(line, np.ones_like(size), lines), 1.0)
    loading = parents.per_byte_s * largest
    tilt: Floats = _sum(line, (size - mean[line]) ** 2, lines) * loading / (parents.base_s + loading)
    return tilt


def _slope(rows: _Rows, lines: int) -> Floats:
    """
    Give the median slope over pairs of a smaller and a larger state, NaN where there is none.

    The i-th smallest is paired with the i-th above the middle. Source: Theil's incomplete method (1950).
    """
    place = np.arange(len(rows.line))
    begin = np.searchsorted(rows.line, rows.line)
    count = np.searchsorted(rows.line, rows.line, side="right") - begin
    first = np.flatnonzero(place - begin < count // 2)
    second = first + count[first] - count[first] // 2
    wider = rows.state[second] > rows.state[first]
    first, second = first[wider], second[wider]
    slopes = (rows.took_s[second] - rows.took_s[first]) / (rows.state[second] - rows.state[first])
    return _median(rows.line[first], slopes, lines)


def _deviation(rows: _Rows, base: Floats, per_byte: Floats) -> Floats:
    """
    Give how far rows lie from their line as a logarithm: around their middle, and the middle from the line.

    By the 85th percentile of the distances, so that what happens once in five times is not overlooked and what happens
    once in twenty does not matter; of few rows by the median. NaN where there are none.
    """
    line, lines = rows.line, len(base)
    off = np.log(rows.took_s / (base[line] + per_byte[line] * rows.state))
    middle = _median(line, off, lines)
    distance = np.abs(off - middle[line])
    most, half = _quantile(line, distance, lines, _MOST), _median(line, distance, lines)
    few = np.bincount(line, minlength=lines) < _FEW
    return np.hypot(np.where(few, half / _MEDIAN_DEVIATIONS, most / _MOST_DEVIATIONS), middle)


def _sum(line: Ints, values: Floats, lines: int) -> Floats:
    return np.bincount(line, weights=values, minlength=lines).astype(np.float64)


def _median(line: Ints, values: Floats, lines: int) -> Floats:
    """Give the median by line, NaN where there is no value."""
    return (_quantile(line, values, lines, 0.5) - _quantile(line, -values, lines, 0.5)) / 2


def _quantile(line: Ints, values: Floats, lines: int, share: float) -> Floats:
    """Give by line the least value that is no less than this share of them, NaN where there is none."""
    order = np.lexsort((values, line))
    ends = np.searchsorted(line[order], np.arange(lines + 1))
    begin, count = ends[:-1], np.diff(ends)
    rank = np.ceil(share * count).astype(np.int64) - 1
    return np.where(count > 0, np.append(values[order], np.nan)[begin + np.maximum(rank, 0)], np.nan)


def reaching(*, base_s: Floats, per_byte_s: Floats, spread: Floats, count: Floats) -> Lines:
    """Give lines with their intervals, the wider the fewer rescales they were learnt from."""
    reach = _reach(spread, count)
    return Lines(base_s=base_s, per_byte_s=per_byte_s, spread=spread, reach=reach, count=count)


def _reach(spread: Floats, count: Floats) -> Floats:
    """Give the spread times Student's quantile, by its expansion in 1/n: Abramowitz and Stegun, 26.7.5."""
    z, freedom = _NORMAL, count + _LEAN_SPREAD
    quantile = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    reach: Floats = np.minimum(quantile * spread, _FARTHEST)
    return reach
