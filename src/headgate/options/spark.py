"""The options of a Spark standalone cluster: where its master is, what its applications tell, and its workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.reactive import WorkersOptions
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOptions(Options):
    """
    One Spark standalone cluster, whose streaming applications are looked after from outside.

    Secrets come as `${env:NAME}` or `${file:PATH}`.

    Raises:
        ValueError: the name cannot stand in a job key, or the address is none of a standalone master's pages.
    """

    name: str = option("name")
    """How the cluster is called in job keys, events and the log; no slash."""

    master: str = option("master", secret=True)
    """Address of the master's web pages, `http://host:8080`."""

    event_log_dir: Path | None = option("event-log-dir", None)
    """
    Where applications write their event logs (`spark.eventLog.dir`), as this machine sees it; not compressed
    (`spark.eventLog.compress=false`). Unset: applications are only observed, by the pages of their drivers.
    """

    driver: str | None = option("driver", None, secret=True)
    """
    Without an event log, the address of the driver's own pages, `http://host:4040`; unset: the master passes requests
    on (`spark.ui.reverseProxy=true`).
    """

    applications: tuple[str, ...] = option("applications", ("*",))
    """Names of the applications to look after, `*` and `?` allowed."""

    workers: WorkersOptions = option("workers", default_factory=WorkersOptions)
    """The cluster's workers, by whose number its application is scaled."""

    headers: Mapping[str, str] = option("headers", default_factory=dict, secret=True)
    """Headers added to each request, such as `Authorization`; their values are secrets."""

    token_file: Path | None = option("token-file", None)
    """File with a bearer token for a gateway in front, read again after a second so that it may rotate."""

    ca_file: Path | None = option("ca-file", None)
    """Certificates to trust, PEM; unset: the system's."""

    request_timeout: PositiveDuration = option("request-timeout", timedelta(seconds=10))
    """Time limit of one request, all of it."""

    max_calls_in_flight: Annotated[int, Interval(ge=1)] = option("max-calls-in-flight", 16)
    """Requests that may be open at once."""

    def __post_init__(self) -> None:
        """Refuse what could never reach a master."""
        if not self.name or "/" in self.name:
            message = f"name {self.name!r} must be a text without a slash, as it stands in job keys"
            raise ValueError(message)
        # Addresses are not shown: they may hold a password.
        if not self.master.startswith(("http://", "https://", "${")):
            hint = "it is that of its web pages, http://host:8080"
            if self.master.startswith(("k8s://", "yarn")):
                hint = "executors there are the driver's own: call headgate.attach in the application"
            message = f"master of {self.name} does not begin with http:// or https://. Hint: {hint}"
            raise ValueError(message)
        if self.driver is not None and not self.driver.startswith(("http://", "https://", "${")):
            message = f"driver of {self.name} does not begin with http:// or https://"
            raise ValueError(message)
        if str(self.event_log_dir or "").startswith(("file:", "hdfs:", "s3")):
            message = f"event-log-dir of {self.name} is none of this machine. Hint: write a path, without file://"
            raise ValueError(message)
