"""What the service's log holds: itself, libraries' errors, and each job's decision whenever it reads differently."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import structlog

from headgate import __version__
from headgate.config.secrets import MASK
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.options.service import LogLevel, Mode, ServiceOptions
from headgate.options.units import format_duration

_log = structlog.get_logger("headgate")
_FORMATTER = logging.Formatter()
_LOGIN = re.compile(r"(?<=://)\S+@")


def settings(*, json: bool) -> dict[str, Any]:
    """Give what makes a line of the log, as `structlog.configure` and `structlog.wrap_logger` take it."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if json else structlog.dev.ConsoleRenderer(colors=sys.stdout.isatty())
    )
    return {
        "processors": [
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        "wrapper_class": structlog.make_filtering_bound_logger(logging.INFO),
    }


def configure(*, json: bool, libraries: LogLevel = LogLevel.WARNING) -> None:
    """
    Log to standard output, as JSON lines or for people.

    What asyncio and other libraries log is in there too, from the level `libraries` on: each as a line `library`.
    """
    structlog.configure(**settings(json=json), logger_factory=structlog.PrintLoggerFactory(sys.stdout))
    handler = _LibraryHandler(json=json)
    handler.setLevel(libraries.value)  # also of those that have a level of their own, as SQLAlchemy has
    logging.basicConfig(level=libraries.value, handlers=[handler], force=True)


class _LibraryHandler(logging.Handler):
    """Passes records of Python's own logging on to the log; two that wrote to one stream would tear lines apart."""

    def __init__(self, *, json: bool) -> None:
        super().__init__()
        unfiltered = {"wrapper_class": structlog.make_filtering_bound_logger(logging.NOTSET)}
        self._log = structlog.wrap_logger(structlog.PrintLogger(sys.stdout), **{**settings(json=json), **unfiltered})

    def emit(self, record: logging.LogRecord) -> None:
        try:
            failure = {"exception": _shown(_FORMATTER.formatException(record.exc_info))} if record.exc_info else {}
            level = min(max(record.levelno // 10 * 10, logging.DEBUG), logging.CRITICAL)
            self._log.log(level, "library", logger=record.name, message=_shown(record.getMessage()), **failure)
        except Exception:  # noqa: BLE001 - as of every handler: a record that cannot be written ends nothing
            self.handleError(record)


def _shown(text: str) -> str:
    """Hide user and password of the addresses in a text: not every library does."""
    return _LOGIN.sub(f"{MASK}@", text)


def announce(options: ServiceOptions) -> None:
    """Say what is looked after, how often, and whether anything will be changed."""
    acts = options.mode is Mode.ACT
    _log.info(
        "started",
        version=__version__,
        mode=options.mode.value,
        meaning="jobs are rescaled" if acts else "nothing is changed; set `mode: act` to let it",
        clusters=[cluster.name for cluster in options.clusters],
        pipeline=options.pipeline.value,
        collect=format_duration(options.collect_interval),
        decide=format_duration(options.decide_interval),
    )


def warn(text: str) -> None:
    """Log a warning about the configuration."""
    _log.warning("configuration", message=text)


def stopping(limit: timedelta) -> None:
    """Say that the service was told to stop, and how long it takes at most."""
    _log.info("stopping", meaning="what is under way is finished", limit=format_duration(limit))


def farewell() -> None:
    """Say that the service ended on request."""
    _log.info("stopped")


class DecisionLog:
    """Logs a job's decision when its outcome, its reason or its changes are not those of the cycle before."""

    def __init__(self) -> None:
        """Begin knowing no job, so that the first cycle lists every one."""
        self._ready = False
        self._said: dict[JobKey, tuple[object, ...]] = {}

    def __call__(self, decisions: Iterable[Decision]) -> None:
        """Take the decisions of one cycle; the first shows that everything has started, Spark included."""
        if not self._ready:
            self._ready = True
            _log.info("ready")
        self.early(decisions := tuple(decisions))
        for gone in self._said.keys() - {decision.job for decision in decisions}:
            del self._said[gone]

    def early(self, decisions: Iterable[Decision]) -> None:
        """Take decisions for a few jobs, made between two cycles."""
        for decision in decisions:
            changes = {p.name: (p.current, p.wanted) for p in decision.changes.values()}
            gist = (decision.outcome, decision.reason, tuple(changes.items()))
            if self._said.get(decision.job) != gist:
                self._log(decision, changes)
            self._said[decision.job] = gist

    def _log(self, decision: Decision, changes: dict[str, tuple[int, int]]) -> None:
        _log.info(
            "decision",
            job=str(decision.job),
            outcome=decision.outcome.value,
            reason=decision.reason.value,
            message=decision.message,
            changes=changes,
            at=decision.at.isoformat(),
            acts=decision.acts,
        )
