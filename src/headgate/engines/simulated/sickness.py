"""What makes a simulated job sick at some parallelisms: too few network buffers, too little heap, anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from math import inf
from typing import Annotated

from headgate.model.measures import JobMeasure
from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option

_BUFFERS = 2048
_ROUNDING = 1e-9


class SicknessKind(StrEnum):
    """What is wrong with the job."""

    NETWORK_MEMORY = "network-memory"
    """There are too few network buffers for so many subtasks: each start fails. More memory moves `from` up."""
    MEMORY_PRESSURE = "memory-pressure"
    """
    State on the heap of too few subtasks: collecting garbage takes most of the time, and from half as many subtasks on
    the heap is not enough at all. More memory moves `to` down.
    """
    FAILING = "failing"
    """It fails for any other reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What the TaskManagers have, as multiples of what they began with."""

    network: float = 1.0
    heap: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sickness(Options):
    """
    A range of parallelism in which a job is sick; at any parallelism where no bound is given.

    Raises:
        ValueError: the range is empty, or a memory pressure has no upper bound.
    """

    what: SicknessKind = option("what")
    """What is wrong with it."""

    vertex: str = option("vertex", "")
    """Name of the vertex whose parallelism counts; unset: the widest one's."""

    least: Annotated[int, Interval(ge=1)] = option("from", 1)
    """The lowest parallelism at which it is sick."""

    most: Annotated[int, Interval(ge=1)] | None = option("to", None)
    """The highest one; unset: there is none."""

    after: timedelta = option("after", timedelta())
    """How long it runs before it fails, each time; 0: it never comes up. A memory pressure fails so at its worst."""

    text: str = option("text", "java.lang.IllegalStateException: this parallelism does not work")
    """What the failure says, where it is not one of memory."""

    def __post_init__(self) -> None:
        """Hold the bounds together."""
        if self.most is not None and self.most < self.least:
            message = f"sickness {self.what}: to {self.most} is below from {self.least}"
            raise ValueError(message)
        if self.what is SicknessKind.MEMORY_PRESSURE and self.most is None:
            message = f"sickness {self.what} needs the highest parallelism at which it strikes, as `to`"
            raise ValueError(message)

    def subtasks(self, parallelism: Mapping[str, int]) -> int:
        """Return the parallelism that counts."""
        return parallelism[self.vertex] if self.vertex else max(parallelism.values())

    def strikes(self, parallelism: Mapping[str, int], memory: Memory) -> bool:
        """Tell whether the job is sick at a parallelism."""
        least, most = float(self.least), float(self.most or inf)
        if self.what is SicknessKind.NETWORK_MEMORY:
            least *= memory.network
        if self.what is SicknessKind.MEMORY_PRESSURE:
            most /= memory.heap
        return least - _ROUNDING <= self.subtasks(parallelism) <= most + _ROUNDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """How a job is at one parallelism; the default is in perfect health."""

    speed: float = 1.0
    """What it manages, as a share of what it could."""
    values: Mapping[JobMeasure, float] = field(default_factory=dict)
    """What is measured of it."""
    lasts_s: float = inf
    """How long after a start it fails."""
    text: str = ""
    """What it fails of."""


def diagnose(sicknesses: Iterable[Sickness], parallelism: Mapping[str, int], memory: Memory) -> Diagnosis:
    """Give the worst of what each sickness makes of a job."""
    found = [_diagnosis(each, parallelism, memory) for each in sicknesses]
    if not found:
        return Diagnosis()
    first = min(found, key=lambda each: each.lasts_s)
    measures = {measure for each in found for measure in each.values}
    return Diagnosis(
        speed=min(each.speed for each in found),
        values={measure: max(each.values.get(measure, 0.0) for each in found) for measure in measures},
        lasts_s=first.lasts_s,
        text=first.text,
    )


def _diagnosis(sickness: Sickness, parallelism: Mapping[str, int], memory: Memory) -> Diagnosis:
    if sickness.what is SicknessKind.MEMORY_PRESSURE:
        return _under_pressure(sickness, parallelism, memory)
    if not sickness.strikes(parallelism, memory):
        return Diagnosis()
    text = sickness.text
    if sickness.what is SicknessKind.NETWORK_MEMORY:
        text = _no_buffers(sickness, parallelism, memory)
    return Diagnosis(lasts_s=sickness.after.total_seconds(), text=text)


def _under_pressure(sickness: Sickness, parallelism: Mapping[str, int], memory: Memory) -> Diagnosis:
    """Divide a fixed state between the subtasks: 1 is where the job gets sick, from 2 on it does not fit."""
    pressure = (sickness.most or 0) / (memory.heap * sickness.subtasks(parallelism))
    if not sickness.strikes(parallelism, memory):
        return Diagnosis(values=_measured(gc=0.1 * pressure, heap=0.75 * pressure))
    gc = min(0.9, 0.6 * pressure)
    values = _measured(gc=gc, heap=min(0.99, 0.96 * pressure))
    if pressure < 2 - _ROUNDING:
        return Diagnosis(speed=1 - gc, values=values)
    text = "java.lang.OutOfMemoryError: Java heap space"
    return Diagnosis(speed=1 - gc, values=values, lasts_s=sickness.after.total_seconds(), text=text)


def _measured(*, gc: float, heap: float) -> Mapping[JobMeasure, float]:
    return {JobMeasure.GC_PRESSURE: min(1.0, gc), JobMeasure.HEAP_MAX_USAGE_RATIO: min(1.0, heap)}


def _no_buffers(sickness: Sickness, parallelism: Mapping[str, int], memory: Memory) -> str:
    """Write what Flink does when a subtask asks for a buffer for each of its channels and does not get them."""
    available, total = int(sickness.least * memory.network), int(_BUFFERS * memory.network)
    return (
        "java.io.IOException: Insufficient number of network buffers: "
        f"required {sickness.subtasks(parallelism) + 1}, but only {available} available. "
        f"The total number of network buffers is currently set to {total} of 32768 bytes each. "
        "You can increase this number by setting the configuration keys 'taskmanager.memory.network.fraction', "
        "'taskmanager.memory.network.min', and 'taskmanager.memory.network.max'."
    )
