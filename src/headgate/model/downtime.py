"""How long a rescale stops a job: what is expected, and within which bounds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Downtime:
    """The time in which a rescale lets nothing through, predicted from rescales that were observed."""

    expected: timedelta
    low: timedelta
    high: timedelta
    """The interval in which 9 of 10 rescales stay: what must hold is held against this end."""
    basis: str
    """What it was learnt from, in words: `12 rescales of this job`, for example."""
    stops: bool = True
    """Whether the job stands still meanwhile; else it runs on, and its batches are late by so much."""
