"""Parallelism and backlog around both steps, of the first repeat of each way to rescale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reaction_flink_figures import Step
from benchmarks.reaction_flink_results import Results
from benchmarks.reaction_flink_setting import AGG, ARMS, SCRIPT

COLOURS = {"fast": "#2563eb", "windowed": "#dc2626", SCRIPT: "#059669"}
TITLES = {"up": "the load quadruples", "down": "the load falls to a quarter"}
BEFORE_S, AFTER_S = 10.0, 110.0


def draw(results: Results, path: Path) -> None:
    """Draw it, the same way at every call."""
    import matplotlib as mpl  # noqa: PLC0415 - slow, and an extra
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context({"svg.hashsalt": "reaction-flink", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9, 5), layout="constrained")
        rows = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=[1, 1])
        for column, (step, title) in enumerate(TITLES.items()):
            sizes, lags = rows[0][column], rows[1][column]
            for arm in ARMS:
                for seen in results.steps("short", arm, step)[:1]:
                    _add(seen, sizes, lags, arm)
            sizes.set_title(title)
            lags.set_xlabel("s since the step")
            lags.set_xlim(-BEFORE_S, AFTER_S)
        for axes, label in ((rows[0][0], "subtasks of the aggregation"), (rows[1][0], "records that wait")):
            axes.set_ylabel(label)
            axes.set_ylim(bottom=0)
        rows[0][0].legend(loc="upper right", frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _add(seen: Step, sizes: Any, lags: Any, arm: str) -> None:
    looks = [look for look in seen.looks if look.at_s <= AFTER_S]
    at_s = [max(look.at_s, -BEFORE_S) for look in looks] + [AFTER_S]
    ran, lag = [look.ran[AGG] for look in looks], [look.lag for look in looks]
    # A step that was answered is looked at no longer: it stays as it was.
    sizes.step(at_s, [*ran, ran[-1]], color=COLOURS[arm], label=arm, where="post", linewidth=1.4)
    lags.step(at_s, [*lag, lag[-1]], color=COLOURS[arm], where="post", linewidth=1.2)
