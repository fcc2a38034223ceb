"""The rate at which records come into a source now, with its standard error: taken from where it changed last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headgate.algorithm.arrival.change import LastParts, last_parts, variance
from headgate.algorithm.arrival.spans import means
from headgate.algorithm.arrival.stretches import Stretches
from headgate.algorithm.arrival.suffixes import Suffixes
from headgate.algorithm.arrival.trend import rise
from headgate.algorithm.arrival.variation import LIMIT, variation, variation_around_lines
from headgate.algorithm.rates import ieee
from headgate.algorithm.stats import Bools, Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """What comes into n sources now; every array has shape (n,)."""

    rate: Floats
    """Records/s; NaN where nothing is known of the time since the change. Of a rising one, what it has come to."""
    error: Floats
    """Its standard error, records/s; infinite where it cannot be told."""
    lasted_s: Floats
    """How long it has been so, as far as that was measured; the stretch in which it changed counts whole."""
    changed: Bools
    """Whether it began with a change; otherwise nothing changed in all the time that is known."""
    rising: Bools
    """Whether it surely has been rising since."""
    saturated: Bools
    """Whether more came in than the source could read, nobody knows how much: the rate is assumed."""
    means: Floats
    """(n, j) records/s on average over ever longer times until now, NaN for none."""
    means_s: Floats
    """(n, j) how long these are."""


_SATURATED_S = 5.0
"""How long a source must not have waited for records to be saturated: a burst is shorter."""

_ASSUMED = 2.0
"""How many times as much as a saturated source reads is taken to come in: what is unknown is looked for by doubling."""

_ASSUMED_ERROR = 0.25
"""Standard error of that, as a share of it: it may be hardly more than is read, or three times as much."""


@ieee
def arrivals(stretches: Stretches) -> Arrivals:
    """Tell what comes in since the last change."""
    varies, known = variation(stretches), stretches.known.sum(axis=1)
    sums, rows = Suffixes.of(stretches), np.arange(len(known))
    parts = last_parts(sums, known, varies)
    changed = parts.last > parts.before
    earlier = changed & _changed_earlier(sums, parts, varies)
    pure, begun = parts.last + (changed & ~earlier), parts.last - earlier
    took_s, came = sums.took_s[rows, pure], sums.came[rows, pure]
    rate = np.where(took_s > 0, np.maximum(came / took_s, 0.0), np.nan)
    error = np.sqrt(variance(rate, varies) / took_s)
    line, (means_s, over) = rise(sums, pure, variation_around_lines(stretches)), means(sums, known)
    rate = np.where(line.is_sure, line.rate, rate)
    error = np.where(line.is_sure, line.error, np.where(np.isnan(error), np.inf, error))
    since = sums.took_s.shape[1] - 1 - np.logical_and.accumulate(stretches.saturated[:, ::-1], axis=1).sum(axis=1)
    saturated_s, was_read = sums.took_s[rows, since], sums.came[rows, since]
    saturated = saturated_s >= _SATURATED_S
    assumed = np.fmax(rate, _ASSUMED * was_read / saturated_s)
    return Arrivals(
        rate=np.where(saturated, assumed, rate),
        error=np.where(saturated, _ASSUMED_ERROR * assumed, error),
        lasted_s=np.where(saturated, saturated_s, sums.took_s[rows, begun]),
        changed=changed | saturated,
        rising=line.is_sure & ~saturated,
        saturated=saturated,
        means=over,
        means_s=means_s,
    )


@ieee
def _changed_earlier(sums: Suffixes, parts: LastParts, variation: Floats) -> Bools:
    """
    Tell where the rate changed in the stretch before the last part, and so before all of that part.

    Such a stretch is on the way from the one rate to the other, or a part of its own between the two. Where none is
    seen, the change lies in the last part's first stretch, which then belongs to both sides and counts for neither.
    """
    rows, way_from = np.arange(len(variation)), np.maximum(parts.last - 1, parts.before)
    end = np.full(len(rows), sums.took_s.shape[1] - 1)
    edges = [parts.before, way_from, parts.last, end]
    took_s = -np.diff([sums.took_s[rows, edge] for edge in edges], axis=0)
    old, way, new = -np.diff([sums.came[rows, edge] for edge in edges], axis=0) / took_s
    apart = (way - old) ** 2 > LIMIT**2 * variance(old, variation) * (1 / took_s[0] + 1 / took_s[1])
    on_the_way: Bools = (took_s[0] == 0) | (apart & ((way - old) * (new - old) > 0))
    return on_the_way
