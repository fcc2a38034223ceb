"""A run as charts over time: load and what was processed, lag, parallelism. Pure values, for a terminal or a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from headgate.engines.simulated.cluster import START
from headgate.simulate.recording import Frame, JobRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One quantity over time."""

    name: str
    points: tuple[tuple[float, float], ...]
    """Seconds and value, in order of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Lines that share an axis."""

    title: str
    lines: tuple[Line, ...]

    @property
    def top(self) -> float:
        """The highest value, at least 1."""
        return max(1.0, *(value for line in self.lines for _, value in line.points))


def panels(run: JobRun, *, columns: int) -> tuple[Panel, ...]:
    """Draw a run with so many points a line; what lies between two points is their mean, of a lag its maximum."""

    def line(name: str, value: Callable[[Frame], float], joined: Callable[[list[float]], float] = fmean) -> Line:
        return Line(name=name, points=tuple(_condensed(run.frames, value, columns, joined)))

    vertices = run.frames[0].parallelism
    return (
        Panel(
            title="records per second",
            lines=(
                line("arriving", lambda frame: frame.arrivals_per_s),
                line("read by the sources", lambda frame: frame.source_per_s),
            ),
        ),
        Panel(title="records waiting", lines=(line("lag", lambda frame: frame.lag, max),)),
        Panel(
            title="parallelism",
            lines=tuple(line(name, partial(_parallelism, name), max) for name in vertices),
        ),
        Panel(
            title="busy share, %",
            lines=tuple(line(name, partial(_busy_percent, name)) for name in vertices),
        ),
    )


def marks(run: JobRun) -> Mapping[str, Sequence[float]]:
    """Give when the job failed, and when a rescale of it was taken back, in seconds since the beginning."""
    return {
        "failure": [setback.at_s for setback in run.setbacks],
        "rollback": [(event.at - START).total_seconds() for event in run.rollbacks],
    }


def _parallelism(vertex: str, frame: Frame) -> float:
    return frame.parallelism.get(vertex, 0)


def _busy_percent(vertex: str, frame: Frame) -> float:
    return 100 * frame.busy.get(vertex, 0.0)


def _condensed(
    frames: Sequence[Frame],
    value: Callable[[Frame], float],
    columns: int,
    joined: Callable[[list[float]], float],
) -> Sequence[tuple[float, float]]:
    each = max(1, -(-len(frames) // columns))
    chunks = [frames[begin : begin + each] for begin in range(0, len(frames), each)]
    return [(chunk[-1].at_s, joined([value(frame) for frame in chunk])) for chunk in chunks]
