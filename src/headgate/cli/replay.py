"""`headgate replay`: decides again what was decided, from the samples log."""

from __future__ import annotations

import json as json_text
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.parquet as pq
import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from headgate.cli import console
from headgate.cli.since import Since, beginning
from headgate.config import load
from headgate.config.other import OtherOptions
from headgate.errors import ConfigError
from headgate.replay.comparing import Verdict
from headgate.replay.replaying import Progress as Tell
from headgate.replay.replaying import Report
from headgate.replay.replaying import replay as replayed
from headgate.replay.stretch import Stretch
from headgate.replay.tallies import SCHEMA
from headgate.replay.telling import lines, summary

_TOLD = 10
"""Jobs whose first difference is printed."""


def replay(
    config: Annotated[Path, typer.Option("--config", "-c", help="The service's file.")] = Path("headgate.yaml"),
    *,
    since: Since = "1h",
    until: Annotated[str | None, typer.Option(help="The end, given like the begin; now without.")] = None,
    job: Annotated[str, typer.Option(help="Only jobs of this key or name; `*` and `?` allowed.")] = "*",
    options: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="An option of the jobs to try, like utilization.target=0.6. Repeatable."
        ),
    ] = None,
    options_file: Annotated[Path | None, typer.Option(help="YAML or TOML file with such options.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Directory that receives everything, as Parquet and JSON.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 where a decision is another one.")] = False,
) -> None:
    """
    Decide again what was decided, from the samples log on Spark; nothing is changed anywhere.

    With the options that held, the decisions must come out the same, byte for byte: that proves a record. With other
    options it shows of each job the first time at which something else would have become of it. What would have been
    after that nobody knows: the job's recorded past no longer applies.
    """
    with console.failures():
        now = datetime.now(UTC)
        service = load(config, os.environ, {}).options
        other = OtherOptions.read(_pairs(options or []), options_file)
        end = beginning(until, now) if until else now
        stretch = Stretch(begin=beginning(since, now), until=end, pattern=job)
        with _progress() as tell:
            report = replayed(service, stretch, other, tell)
    if out:
        _write(report, out)
    if json:
        typer.echo(json_text.dumps(summary(report)))
    for line in lines(report, most=_TOLD) if not json else ():
        console.out.print(console.shown(line), highlight=False)
    if strict and report.count(Verdict.EQUAL) + report.count(Verdict.NOT_COMPARABLE) < report.decisions:
        raise typer.Exit(1)


def _pairs(settings: Sequence[str]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in settings]
    faults = [f"--options {''.join(pair)}: expected KEY=VALUE" for pair in pairs if not pair[1]]
    if faults:
        raise ConfigError(faults)
    return {key.strip(): value for key, _, value in pairs}


@contextmanager
def _progress() -> Iterator[Tell]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console.err, transient=True) as progress:
        task = progress.add_task("deciding again", total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of or None)


def _write(report: Report, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = pa.Table.from_pylist([tally.row for tally in report.tallies], schema=SCHEMA)
    pq.write_table(rows, folder / "verdicts.parquet")
    (folder / "report.json").write_text(json_text.dumps(summary(report), indent=2), encoding="utf-8")
