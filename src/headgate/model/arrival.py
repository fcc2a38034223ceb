"""What is known of a job's input: since when it has been what it is, and how well."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """The rate that comes into all sources of a job together."""

    per_s: float | None
    """Records/s; None where nothing is known of the time since the change."""
    error: float | None
    """Its standard error, as a share of it; None where that cannot be told."""
    lasted_s: float
    """How long it has been so, as far as that was measured."""
    changed: bool
    """Whether it began with a change; otherwise nothing changed in all the time that is known."""
    rising: bool = False
    """Whether it has surely been rising since; then the rate is what it has come to."""
    saturated: bool = False
    """Whether a source reads all it can while more comes in, nobody knows how much: the rate is assumed, not seen."""
    means: tuple[tuple[float, float], ...] = ()
    """How long, and records/s on average: over ever longer times until now."""
