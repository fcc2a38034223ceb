"""`headgate doctor`: everything that is to be put right before Headgate runs, with what to do about it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from headgate.cli import console, findings
from headgate.cli.addresses import clusters_at
from headgate.config import Loaded, load, unmakeable, unresolvable
from headgate.doctor.examination import examine, of_file
from headgate.doctor.findings import Report, fails
from headgate.errors import ConfigError
from headgate.options.service import ServiceOptions


def doctor(
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Clusters to look at instead of those of the file.")
    ] = None,
    *,
    config: Annotated[Path, typer.Option("--config", "-c", help="The service's file.")] = Path("headgate.yaml"),
    deep: Annotated[bool, typer.Option("--deep", help="Start Spark too: some seconds and a Java process.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The findings as a JSON list.")] = False,
) -> None:
    """
    Check machine, clusters and jobs, and say what to do. Changes nothing.

    A failure keeps Headgate from doing what the file asks of it; a warning
    makes it slower or less sure, or would be a failure with `mode: act`. Of a
    Flink job it looks at the scheduler, checkpoints, room to grow, each
    source's `pendingRecords` and partitions, busy times, and whether the
    intervals fit those of the cluster.

    With addresses no file is read: options are at their defaults then.

    The exit status is 1 when something fails.
    """
    with console.failures():
        reports = _reports(urls or [], config, deep=deep)
    if as_json:
        flat = [{"about": report.about, **asdict(found)} for report in reports for found in report.findings]
        typer.echo(json.dumps(flat, indent=2))
    else:
        findings.show(reports)
    raise typer.Exit(int(fails(reports)))


def _reports(urls: Sequence[str], config: Path, *, deep: bool) -> Sequence[Report]:
    if urls:
        return asyncio.run(examine(ServiceOptions(clusters=clusters_at(urls)), deep=deep))
    try:
        loaded = _load(config)
    except ConfigError as error:
        return [of_file(config, faults=error.faults)]
    return [of_file(config, warnings=loaded.warnings), *asyncio.run(examine(loaded.options, deep=deep))]


def _load(config: Path) -> Loaded:
    """Read the file as `headgate config check` does, its secrets and plugins included."""
    loaded = load(config, os.environ, {})
    if faults := unresolvable(loaded) or unmakeable(loaded.options, loaded.origins):
        raise ConfigError(faults)
    return loaded
