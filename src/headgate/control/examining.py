"""Asking a job's checkers whether it is beyond recovery: Headgate's own judge rescales, those of others anything."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.errors import PluginError
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.rollback import Evidence
from headgate.options.rollback import BUILT_IN_CHECKERS
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.ready import Plugin
from headgate.ports import JobContext, Unrecoverable

Examined = tuple[Evidence | PluginError | None, ...]
"""What each checker says: its evidence against the job, or how it failed."""


def own_checkers(host: PluginHost, names: Iterable[str]) -> tuple[str, ...]:
    """Give those of Headgate's own: they judge what came after a rescale, and nothing else."""
    return tuple(name for name in names if _is_own(host, name))


def others_checkers(host: PluginHost, names: Iterable[str]) -> tuple[str, ...]:
    """Give those of others: they are asked always."""
    return tuple(name for name in names if not _is_own(host, name))


def _is_own(host: PluginHost, name: str) -> bool:
    if name in BUILT_IN_CHECKERS:
        return True
    return host.stands_for(Kind.UNRECOVERABLE_ERROR_CHECKER, name) in BUILT_IN_CHECKERS


def examined(host: PluginHost, names: tuple[str, ...], ctx: JobContext, evaluated: EvaluatedMetrics | None) -> Examined:
    """Ask checkers, all of them."""
    checkers, failed = host.chain(Kind.UNRECOVERABLE_ERROR_CHECKER, names)
    return *failed, *(_checked(checker, ctx, evaluated) for checker in checkers)


def _checked(checker: Plugin, ctx: JobContext, evaluated: EvaluatedMetrics | None) -> Evidence | PluginError | None:
    """Give the evidence of a checker that condemns the job."""
    try:
        verdict: bool | Unrecoverable = checker.port.check(ctx, evaluated)
    except Exception as error:  # noqa: BLE001 - it is anybody's code
        return checker.failure(error)
    if isinstance(verdict, Unrecoverable):
        return Evidence(checker=checker.name, found=verdict.evidence, shortage=verdict.shortage)
    return Evidence(checker=checker.name) if verdict else None
