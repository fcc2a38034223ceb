"""`headgate init`: a first file for a cluster, from one look at it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from headgate.algorithm.lag import told_brokers_unknown
from headgate.cli import console
from headgate.cli.addresses import clusters_at
from headgate.doctor.checks.cluster import unreached
from headgate.doctor.draft import Seen, draft, without_brokers
from headgate.doctor.facts import ClusterFacts
from headgate.doctor.looks.cluster import look_at_cluster
from headgate.errors import ConfigError, UnreachableError
from headgate.options.service import ClusterOptions, ServiceOptions


def init(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="REST address of a Flink JobManager, one or more.")],
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write; `-` is standard output.")
    ] = "headgate.yaml",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    token_file: Annotated[Path | None, typer.Option("--token-file", help="File with a bearer token.")] = None,
    ca_file: Annotated[Path | None, typer.Option("--ca-file", help="Certificates to trust, PEM.")] = None,
) -> None:
    """
    Look at Flink clusters and write a commented `headgate.yaml` for them.

    The file is whole and in mode `advise`: `headgate run` on it says what it
    would do, and does nothing. Intervals and windows fit what the clusters'
    own settings and checkpoints allow; the jobs that run stand in it as
    comments. The clusters are only looked at, and nothing is written when an
    address does not answer. Next: `headgate doctor`.

    Any JobManager from Flink 1.18 on will do, of a session or of one
    application. Write the file by hand for a cluster that wants headers or a
    client certificate, and for Spark, YARN and Kubernetes (`spark-clusters`,
    `yarn`, `kubernetes`); `headgate doctor` looks at those too.
    """
    with console.failures():
        _refuse_overwriting(output, force=force)
        clusters = _clusters(urls, token_file, ca_file)
        seen = asyncio.run(_look(clusters))
        _write(draft(seen, at=datetime.now(UTC)), output)
        if jobs := without_brokers(seen):
            console.note(told_brokers_unknown(jobs))


def _refuse_overwriting(output: str, *, force: bool) -> None:
    if output != "-" and not force and Path(output).exists():
        raise ConfigError([f"{output} is there already. Hint: --force replaces it, --output names another"])


def _clusters(urls: Sequence[str], token_file: Path | None, ca_file: Path | None) -> tuple[ClusterOptions, ...]:
    return tuple(replace(cluster, token_file=token_file, ca_file=ca_file) for cluster in clusters_at(urls))


async def _look(clusters: Sequence[ClusterOptions]) -> list[Seen]:
    options = ServiceOptions(clusters=tuple(clusters))
    looks = await asyncio.gather(*(look_at_cluster(cluster, options) for cluster in clusters))
    for facts in looks:
        _refuse_unseen(facts)
    return [Seen(options=cluster, facts=facts) for cluster, facts in zip(clusters, looks, strict=True)]


def _refuse_unseen(facts: ClusterFacts) -> None:
    if facts.failure is not None:
        found = unreached(facts.failure, flink=True)
        message = f"{found.seen}. Hint: {found.remedy}"
        raise UnreachableError(message) from facts.failure
    if facts.listed is not None:
        raise UnreachableError(facts.listed)


def _write(text: str, output: str) -> None:
    if output == "-":
        typer.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError([f"{output} cannot be written: {error.strerror}"]) from error
    console.err.print(f"{escape(output)} is written. Next: [bold]headgate doctor[/]")
