"""How several Headgates that share a state store divide the jobs among them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from annotated_types import Interval

from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseOptions(Options):
    """Who of several Headgates that share a state store looks after which jobs."""

    shards: Annotated[int, Interval(ge=1, le=4096)] = option("shards", 64)
    """Into how many parts the jobs are divided, by their keys. The same in every Headgate of one store and clusters."""

    duration: PositiveDuration = option("duration", timedelta(seconds=30))
    """How long the jobs of a Headgate that died wait for another one. It is renewed three times as often."""
