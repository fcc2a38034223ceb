"""Clusters that are named by their addresses on the command line."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from headgate.doctor.naming import name_clusters
from headgate.options.service import ClusterOptions


def clusters_at(urls: Sequence[str]) -> tuple[ClusterOptions, ...]:
    """
    Give the clusters at some addresses, each with a name.

    Raises:
        typer.BadParameter: an address is none.
    """
    if not all(url.startswith(("http://", "https://")) for url in urls):
        message = "an address begins with http:// or https://, such as http://localhost:8081"
        raise typer.BadParameter(message, param_hint="URL")
    try:
        return name_clusters(urls)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="URL") from error
