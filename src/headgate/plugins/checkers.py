"""The built-in checkers of a job that was rescaled, as plugins; what counts as sick is `algorithm.sickness`."""

from __future__ import annotations

from headgate.model.metrics import EvaluatedMetrics
from headgate.ports import JobContext, Unrecoverable


class NetworkMemory:
    """Condemns a job that fails for want of network buffers after a rescale."""

    def check(self, ctx: JobContext, evaluated: EvaluatedMetrics | None, /) -> bool | Unrecoverable:  # noqa: ARG002
        """Tell whether it is."""
        return False


class MemoryPressure(NetworkMemory):
    """Condemns a job whose garbage collection or heap use is too high since a rescale."""


class RestartLoop(NetworkMemory):
    """Condemns a job that fails again and again since a rescale."""


class NeverRunning(NetworkMemory):
    """Condemns a job that does not run since a rescale."""


class NotReached(NetworkMemory):
    """Condemns a rescale whose parallelism was not reached."""
