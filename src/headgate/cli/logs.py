"""What the service writes to its log: itself, and every job's decision whenever it reads differently."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from datetime import timedelta

import structlog

from headgate import __version__
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.options.service import Mode, ServiceOptions
from headgate.options.units import format_duration

_log = structlog.get_logger("headgate")


def configure(*, json: bool) -> None:
    """Log to standard output, as JSON lines or for people; what matters of a library's words is an event of ours."""
    logging.getLogger().addHandler(logging.NullHandler())
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if json else structlog.dev.ConsoleRenderer(colors=sys.stdout.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stdout),
    )


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
