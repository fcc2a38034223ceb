"""
The plots of a series, as SVG files that are the same whenever the rows are.

matplotlib is an extra and takes a second to import: only who draws needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headgate.errors import PermanentError
from headgate.rescales.cells import Backend, Kind
from headgate.rescales.findings import savepoint_line
from headgate.rescales.intervals import Interval, median_of
from headgate.rescales.phases import PHASES
from headgate.rescales.rows import Row
from headgate.rescales.table import grouped, phase_title

_COLOURS = {Backend.HASHMAP: "#b5541c", Backend.ROCKSDB: "#1f5fa8"}
_PHASE_COLOURS = ("#d9d9d9", "#8c6bb1", "#fdae6b", "#fdd0a2", "#31a354", "#a1d99b", "#c6dbef")
_SIZE = (9.0, 3.6)


def draw_plots(rows: Sequence[Row], directory: Path) -> list[Path]:
    """
    Write all plots into a directory, and return their files.

    Raises:
        PermanentError: matplotlib is not installed.
    """
    plots: dict[str, Callable[[Any, Sequence[Row]], None]] = {
        "rescale-downtime": _draw_downtime,
        "rescale-phases": _draw_phases,
        "rescale-savepoint": _draw_savepoints,
        "rescale-loading": _draw_loading,
    }
    directory.mkdir(parents=True, exist_ok=True)
    return [_drawn(rows, draw, directory / f"{name}.svg") for name, draw in plots.items()]


def _drawn(rows: Sequence[Row], draw: Callable[[Any, Sequence[Row]], None], path: Path) -> Path:
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra, and slow
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        message = "matplotlib is not installed. Hint: pip install 'headgate[plots]'"
        raise PermanentError(message) from error
    with mpl.rc_context({"svg.hashsalt": "headgate", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=_SIZE, layout="constrained")
        draw(figure, rows)
        figure.savefig(path, format="svg", metadata={"Date": None})
    return path


def _draw_downtime(figure: Any, rows: Sequence[Row]) -> None:
    """Downtime over state, a panel a kind, a line a backend."""
    panels = _panels(figure, 2)
    for axes, kind in zip(panels, Kind, strict=True):
        axes.set(title=str(kind), xlabel="state (MB)", ylabel="downtime (s)")
        for backend in Backend:
            points = median_points(_of(rows, kind, backend), _state, _downtime)
            _draw_medians(axes, points, backend)
        axes.legend(frameon=False)
    panels[0].set_ylim(bottom=0)


def _draw_phases(figure: Any, rows: Sequence[Row]) -> None:
    """What a rescale consists of: a bar for each kind, backend and state."""
    groups = grouped(rows, lambda row: (str(row.cell.move.kind), str(row.cell.backend), row.cell.state_mb))
    names = [f"{kind}, {backend}, {state} MB" for (kind, backend, state), _ in groups]
    axes = figure.subplots()
    reached = np.zeros(len(groups))
    for phase, colour in zip(PHASES, _PHASE_COLOURS, strict=True):
        lengths = np.array([np.median([getattr(row.phases, phase) for row in group]) for _, group in groups])
        axes.barh(names, lengths, left=reached, color=colour, label=phase_title(phase))
        reached += lengths
    axes.invert_yaxis()
    axes.set_xlabel("median seconds; the job works while it waits and while it catches up")
    axes.legend(frameon=False, ncols=1, bbox_to_anchor=(1.0, 1.0))


def _draw_savepoints(figure: Any, rows: Sequence[Row]) -> None:
    """Each savepoint, and the straight line through those of its backend."""
    axes = figure.subplots()
    axes.set(xlabel="state (MB)", ylabel="savepoint (s)")
    for backend in Backend:
        ours = _of(rows, Kind.REDEPLOY, backend)
        states = np.array([row.cell.state_mb for row in ours], dtype=float)
        _draw_points(axes, states, [row.phases.savepoint_s for row in ours], backend)
        line = savepoint_line(rows, backend)
        if line is not None:
            ends = np.array([states.min(), states.max()])
            axes.plot(ends, line.base.middle + line.slope.middle * ends, color=_COLOURS[backend])
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)


def _draw_loading(figure: Any, rows: Sequence[Row]) -> None:
    """Loading over the parallelism that is loaded into, both kinds together: a panel a backend, a line a state."""
    panels = _panels(figure, 2)
    for axes, backend in zip(panels, Backend, strict=True):
        axes.set(title=str(backend), xlabel="parallelism after", ylabel="loading the state (s)")
        ours = [row for row in rows if row.cell.backend is backend]
        for number, (state, group) in enumerate(grouped(ours, _state)):
            points = median_points(group, lambda row: row.cell.move.after, lambda row: row.phases.loading_s)
            _draw_errorbars(axes, points, f"C{number}", f"{state} MB")
        axes.legend(frameon=False)
    panels[0].set_ylim(bottom=0)


def median_points(
    rows: Iterable[Row], across: Callable[[Row], int], value: Callable[[Row], float]
) -> list[tuple[int, Interval]]:
    """Return the median of a value, with its interval, at each place across."""
    return [(at, median_of([value(row) for row in group])) for at, group in grouped(rows, across)]


def _draw_medians(axes: Any, points: Sequence[tuple[int, Interval]], backend: Backend) -> None:
    _draw_errorbars(axes, points, _COLOURS[backend], str(backend))


def _draw_errorbars(axes: Any, points: Sequence[tuple[int, Interval]], colour: str, label: str) -> None:
    middles = np.array([interval.middle for _, interval in points])
    lows = np.array([interval.low for _, interval in points])
    highs = np.array([interval.high for _, interval in points])
    errors = np.nan_to_num(np.maximum([middles - lows, highs - middles], 0.0))
    at = [place for place, _ in points]
    axes.errorbar(at, middles, yerr=errors, color=colour, marker="o", markersize=4, capsize=3, label=label)


def _draw_points(axes: Any, across: Any, values: Sequence[float], backend: Backend) -> None:
    axes.plot(across, values, "o", color=_COLOURS[backend], alpha=0.4, markersize=4, label=str(backend))


def _panels(figure: Any, count: int) -> Any:
    """Make panels of one scale; it is bounded when all of them have been drawn, or the first would decide."""
    return figure.subplots(1, count, sharey=True)


def _of(rows: Sequence[Row], kind: Kind, backend: Backend) -> list[Row]:
    return [row for row in rows if row.cell.move.kind is kind and row.cell.backend is backend]


def _state(row: Row) -> int:
    return row.cell.state_mb


def _downtime(row: Row) -> float:
    return row.phases.downtime_s
