"""The built-in checkers of a job that was rescaled, as plugins; what counts as sick is `algorithm.sickness`."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.algorithm import sickness
from headgate.algorithm.sickness import Rule
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.rollback import Evidence
from headgate.ports import JobContext, Unrecoverable


class NetworkMemory:
    """Condemns a job that fails for want of network buffers after a scale-up."""

    rule: Rule = staticmethod(sickness.lack_of_network_memory)

    def __init__(self, _parameters: Mapping[str, str] = {}, /) -> None:
        """Need no parameters: the options are the job's, under `rollback`."""

    def check(self, ctx: JobContext, _evaluated: EvaluatedMetrics | None, /) -> bool | Unrecoverable:
        """Give the evidence against the job; a job without a rescale under observation has none."""
        return _verdict(self.rule(ctx.aftermath, ctx.options) if ctx.aftermath else None)


class MemoryPressure(NetworkMemory):
    """Condemns a job whose TaskManagers are short of heap since a rescale, and were not before it."""

    rule = staticmethod(sickness.memory_pressure)


class RestartLoop(NetworkMemory):
    """Condemns a job that fails again and again since a rescale."""

    rule = staticmethod(sickness.restart_loop)


class NeverRunning(NetworkMemory):
    """Condemns a job that does not run since a rescale."""

    rule = staticmethod(sickness.never_running)


class NotReached(NetworkMemory):
    """Condemns a rescale that does not come."""

    rule = staticmethod(sickness.not_reached)


class FallsBehind:
    """Condemns a scale-down since which the job does not keep up with no more load than before it."""

    def __init__(self, _parameters: Mapping[str, str] = {}, /) -> None:
        """Need no parameters: the options are the job's."""

    def check(self, ctx: JobContext, evaluated: EvaluatedMetrics | None, /) -> bool | Unrecoverable:
        """Give the evidence against the job; a job without a rescale under observation has none."""
        return _verdict(sickness.falls_behind(ctx.aftermath, ctx.options, evaluated) if ctx.aftermath else None)


def _verdict(evidence: Evidence | None) -> bool | Unrecoverable:
    return Unrecoverable(evidence=evidence.found, shortage=evidence.shortage) if evidence else False
