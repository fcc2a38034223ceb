"""`headgate simulate`: what Headgate would do with a job that only exists on paper."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from headgate.cli import console
from headgate.cli.simulated import show
from headgate.errors import ConfigError
from headgate.options.units import format_duration
from headgate.simulate.picture import marks, panels
from headgate.simulate.reading import read_scenario
from headgate.simulate.recording import Run
from headgate.simulate.report import report_json
from headgate.simulate.simulation import Progress as Tell
from headgate.simulate.simulation import Simulation
from headgate.simulate.svg import svg

_POINTS = 480
"""Of a line in a file: as many as its pixels can show."""


def simulate(
    scenario: Annotated[Path, typer.Argument(help="YAML or TOML file: graph, curves, load, failures, options.")],
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Sets any dotted key of the scenario, like job.autoscaler.utilization.target=0.6. Repeatable.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed: other noise, other random failures.")] = None,
    duration: Annotated[str | None, typer.Option(help="How long to simulate, like 24h.")] = None,
    json: Annotated[Path | None, typer.Option("--json", help="File that receives everything as JSON.")] = None,
    chart: Annotated[Path | None, typer.Option("--chart", help="SVG file that receives the charts.")] = None,
) -> None:
    """
    Let Headgate look after a simulated job: the very same control loop, a day in less than a minute.

    Needs no Flink and no Spark. Prints charts, every rescale with its reason, every warning, and what it all cost. To
    see what an option does, run a scenario twice, the second time with --set. The smallest scenario is:

        jobs:
          - vertices:
              - {name: source, curve.rate: 100000, load.rate: 2000}
              - {name: count, curve.rate: 500}

    The same seed gives the same run. The exit status is 2 for a faulty scenario, all faults are listed together.
    """
    with console.failures():
        flags = _flags(settings or [], seed=seed, duration=duration)
        _refuse_other_charts(chart)
        simulation = Simulation(read_scenario(scenario, flags))
        with _progress(simulation.scenario.duration) as tell:
            run = simulation.run(tell)
    show(run)
    if json:
        json.write_text(report_json(run), encoding="utf-8")
    if chart:
        _draw(run, chart)


def _flags(settings: list[str], *, seed: int | None, duration: str | None) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in settings]
    faults = [f"--set {''.join(pair)}: expected KEY=VALUE" for pair in pairs if not pair[1]]
    if faults:
        raise ConfigError(faults)
    own = {"seed": None if seed is None else str(seed), "duration": duration}
    return {key.strip(): value for key, _, value in pairs} | {key: text for key, text in own.items() if text}


def _refuse_other_charts(chart: Path | None) -> None:
    if chart and chart.suffix.lower() != ".svg":
        message = f"{chart} has the ending {chart.suffix!r}. Hint: charts are written as .svg"
        raise typer.BadParameter(message, param_hint="--chart")


@contextmanager
def _progress(duration: timedelta) -> Iterator[Tell]:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console.err, transient=True) as progress:
        task = progress.add_task(f"simulating {format_duration(duration)}", total=duration.total_seconds())
        yield lambda at: progress.update(task, completed=at.total_seconds())


def _draw(run: Run, chart: Path) -> None:
    """Write one file a job: the first one under the given name, the others with their own name in it."""
    duration_s = run.scenario.duration.total_seconds()
    for number, (name, job) in enumerate(run.jobs.items()):
        file = chart.with_stem(f"{chart.stem}-{name}") if number else chart
        picture = svg(panels(job, columns=_POINTS), title=name, duration_s=duration_s, marks=marks(job))
        file.write_text(picture, encoding="utf-8")
