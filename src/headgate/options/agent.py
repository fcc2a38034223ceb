"""The options of an agent inside of a PySpark application, beside the `job.autoscaler.*` of that application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import LEGACY_PREFIX, PREFIX, Options, option
from headgate.options.plugins import PluginOptions
from headgate.options.service import LogLevel, Mode
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions(Options):
    """
    Everything that `headgate.attach` takes.

    Raises:
        ValueError: the cluster's name has a slash, or the service's address is none.
    """

    mode: Mode = option("mode", Mode.ACT)
    """`act` changes the number of executors; `advise` only says what it would do."""

    cluster: str = option("cluster", "spark")
    """How the application's cluster is called in its job key, `<cluster>/<application>`; no slash."""

    collect_interval: PositiveDuration = option("collect.interval", timedelta(seconds=2))
    """How often a sample is taken."""

    decide_interval: PositiveDuration = option("decide.interval", timedelta(seconds=4))
    """How often the application is evaluated and decided."""

    state_store: str = option("state-store", "memory", secret=True)
    """
    `memory`, which ends with the application, or a database URL: what is remembered survives the driver.

    A database needs the package SQLAlchemy and its driver.
    """

    report_url: str | None = option("report.url", None)
    """Address of a Headgate service that takes reports (`agents.address`), like `http://host:9465`; unset: none."""

    report_token: str | None = option("report.token", None, secret=True)
    """The service's `agents.token`, where it has one; `${env:NAME}` and `${file:PATH}` are looked up."""

    report_ca_file: Path | None = option("report.ca-file", None)
    """Certificates to trust for it, PEM; unset: the system's."""

    log_level: LogLevel = option("log.level", LogLevel.INFO)
    """Of the logger `headgate`."""

    autoscaler: AutoscalerOptions = option(
        PREFIX[:-1], default_factory=AutoscalerOptions, aliases=(LEGACY_PREFIX[:-1],)
    )
    """Options of the application."""

    plugins: PluginOptions = option("plugins", default_factory=PluginOptions)
    """How long plugins may take."""

    plugin_instances: Mapping[str, str] = option("headgate.plugins.<name>", default_factory=dict, secret=True)
    """Instances of plugins of any kind: `class`, the name of a registered one, and its parameters."""

    def __post_init__(self) -> None:
        """Refuse what would fail later."""
        if not self.cluster or "/" in self.cluster:
            message = f"cluster {self.cluster!r} cannot stand in a job key. Hint: leave the slash out"
            raise ValueError(message)
        if self.report_url is not None and not self.report_url.startswith(("http://", "https://")):
            message = f"report.url {self.report_url!r} is no address. Hint: write one like http://host:9465"
            raise ValueError(message)
        if self.report_url is not None and "@" in urlsplit(self.report_url).netloc:
            message = "report.url holds a user or a password, which is not shown here. Hint: use report.token"
            raise ValueError(message)
