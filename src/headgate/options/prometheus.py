"""The options of a cluster whose metrics are read from a Prometheus server that scrapes Flink's own reporter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration

_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusOptions(Options):
    """
    Where a cluster's metrics are scraped to. Secrets come as `${env:NAME}` or `${file:PATH}`.

    Raises:
        ValueError: the address is none, or a matcher's name none of a label.
    """

    url: str | None = option("url", None, secret=True)
    """Address of the Prometheus server, for example `http://127.0.0.1:9090`; unset: metrics come from Flink's REST."""

    matchers: Mapping[str, str] = option("matchers", default_factory=dict)
    """Labels that tell this cluster's series from those of others, for example `cluster: eu-1`."""

    scrape_interval: PositiveDuration = option("scrape-interval", timedelta(seconds=15))
    """How often Prometheus scrapes the cluster: there is nothing new in between, and three of them are looked back."""

    headers: Mapping[str, str] = option("headers", default_factory=dict, secret=True)
    """Headers added to each request; their values are secrets."""

    token_file: Path | None = option("token-file", None)
    """File with a bearer token, read again at each request so that it may rotate."""

    ca_file: Path | None = option("ca-file", None)
    """Certificates to trust, PEM; unset: the system's."""

    timeout: PositiveDuration = option("timeout", timedelta(seconds=10))
    """Time limit of one query."""

    def __post_init__(self) -> None:
        """Refuse what could never reach a server."""
        if self.url is not None and not self.url.startswith(("http://", "https://", "${")):
            # The URL is not shown: it may hold a password.
            message = "url of prometheus does not begin with http:// or https://"
            raise ValueError(message)
        if odd := sorted(label for label in self.matchers if not _LABEL.fullmatch(label)):
            message = f"matchers of prometheus hold {odd[0]!r}, no name of a label. Hint: letters, digits and _"
            raise ValueError(message)
