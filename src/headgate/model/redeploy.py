"""
What a job is started from, and what a redeploy (stop with a savepoint, start from it) is to change.

Values that a state store keeps; nothing is sent anywhere from here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Self

from headgate.model.identity import VertexId

_NUMBER = 4
"""Hex digits of a job id that count the ways back: one every five minutes for half a year."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """
    A job's launch spec: what the engine must be given to start it. An engine does not tell it of a running job.

    References to secrets (`${env:NAME}`, `${file:PATH}`) stand here as they were written.
    """

    jar: str
    """A local file, which is uploaded, or the name or id of a jar that the cluster has."""
    entry_class: str | None = None
    """None: the one that the jar's manifest names."""
    args: tuple[str, ...] = ()
    configuration: Mapping[str, str] = field(default_factory=dict)
    savepoint_directory: str | None = None
    """None: the cluster's default."""
    parallelism: int | None = None
    """Of every operator that the program does not give one of its own; None: the cluster's default."""
    savepoint_limit: timedelta = timedelta(minutes=10)
    """With `start_limit`, how long a redeploy may take before that is told; it is waited for all the same."""
    start_limit: timedelta = timedelta(minutes=5)
    """By when all tasks of a started job must run, else the start has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """Configuration over that of the launch spec: values to set, and keys to take away."""

    overrides: Mapping[str, str] = field(default_factory=dict)
    removals: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Tell whether it changes anything."""
        return bool(self.overrides or self.removals)

    def then(self, overrides: Mapping[str, str], removals: frozenset[str]) -> Self:
        """Give both, one after the other, as one."""
        kept = {key: value for key, value in self.overrides.items() if key not in removals}
        return type(self)(overrides={**kept, **overrides}, removals=(self.removals | removals) - overrides.keys())

    def over(self, configuration: Mapping[str, str]) -> dict[str, str]:
        """Lay it over a configuration."""
        kept = {key: value for key, value in configuration.items() if key not in self.removals}
        return {**kept, **self.overrides}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """With what a job is started from a savepoint."""

    parallelism: int | None
    """Of the whole job; None: what the launch spec says."""
    vertices: Mapping[VertexId, int] = field(default_factory=dict)
    """Of each vertex, where the engine takes that; empty where one parallelism holds for the whole job."""
    overlay: Overlay = field(default_factory=Overlay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redeploy:
    """A change that ends one job and starts another, with the way back."""

    launch: Launch | None
    """None: nobody has declared one, and the change will be refused."""
    successor: str
    """Job id of the other job: chosen beforehand, so that it can be found again, and never started twice."""
    after: Start
    before: Start
    """How to start again where that fails."""
    realizer: str | None = None
    """What does it, by the job's options of then: it is asked until the end, whatever they say since."""


def successor_of(job_id: str) -> str:
    """Give the id of the job that a redeploy of this one starts: a job that was stopped has one successor, ever."""
    return _id("successor", job_id)


def way_back_of(job_id: str, number: int) -> str:
    """
    Give the id under which a job is started again as it was, where its successor's start has failed.

    Args:
        job_id: of the job that was stopped.
        number: of the attempt, from 0: a job id is spent by a start that fails.
    """
    return f"{_id('way back', job_id)[:-_NUMBER]}{number % 16**_NUMBER:0{_NUMBER}x}"


def number_of_way_back(job_id: str, of: str) -> int | None:
    """Give the number of the attempt that has this id; None: it is no way back of that job."""
    return int(job_id[-_NUMBER:], 16) if job_id[:-_NUMBER] == way_back_of(of, 0)[:-_NUMBER] else None


def trigger_of(job_id: str, decision_id: str) -> str:
    """Give the id of the request that stops a job with a savepoint: one for each decision, however often it is sent."""
    return _id("stop", job_id, decision_id)


def _id(*parts: object) -> str:
    """Give 32 hex digits, as Flink's ids have."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:32]
