"""Changes a job through the scale subresource of whatever resource it is, and leaves the rest to its controller."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.errors import RefusedError
from headgate.kube.parameters import login_of, refuse_unknown, target_of
from headgate.kube.scale import ScaleApi
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.ports import JobContext

_SLOTS = "slots-per-replica"


class ScaleSubresourceRealizer:
    """
    Sets the replicas of one resource to what a whole job needs. Implements `headgate.ports.ScalingRealizer`.

    A job needs as many slots as its widest vertex has subtasks, where all share slots. One instance serves the one job
    that the resource runs. Its account needs `get` and `patch` of the resource's scale.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Connect to nothing yet.

        Args:
            parameters: of the resource, as the provider `kubernetes` takes them: `name`, `kind`, or `group`, `version`
                and `plural`, `namespace`, `kubeconfig`, `context`, `request-timeout`; and `slots-per-replica`, by
                default 1, with which a replica is a subtask of each vertex.

        Raises:
            ValueError: something is missing, or too much.
            ConfigError: the client of Kubernetes is not installed.
        """
        refuse_unknown(parameters, _SLOTS)
        self._target = target_of(parameters)
        self._login = login_of(parameters)
        self._slots = _slots(parameters.get(_SLOTS, "").strip() or "1")

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """
        Set the replicas, unless they are set so.

        Vertices that are not named count with what they had when the change was decided.

        Raises:
            NotFoundError: there is no such resource.
            RefusedError: it is not allowed, or nobody has set its replicas yet.
            TransientError: no usable answer, or somebody changed it at the same time.
        """
        takes_back = ctx.intent is not None and ctx.intent.takes_back is not None
        if ctx.status is not JobStatus.RUNNING and not takes_back:
            return False
        wanted = {**(ctx.intent.before if ctx.intent else {}), **overrides}
        return await self._scale(-(-max(wanted.values()) // self._slots)) if wanted else False

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Refuse: a scale is a number and nothing else."""
        named = ", ".join(sorted({*changes.overrides, *changes.removals})) or "nothing"
        message = f"{ctx.key}: only the replicas of {self._target} can be changed, not its configuration ({named})"
        raise RefusedError(message)

    async def _scale(self, replicas: int) -> bool:
        # A connection a change: they are rare, and nobody tells a realizer that it is over.
        api = ScaleApi(self._target, self._login)
        try:
            present = (await api.read()).wanted
            if present is None:
                message = f"{self._target} has no number of replicas yet. Hint: set one by hand, once"
                raise RefusedError(message)
            if present == replicas:
                return False
            await api.write(replicas)
        finally:
            await api.close()
        return True


def _slots(text: str) -> int:
    if not text.isdecimal() or not int(text):
        message = f"parameter {_SLOTS} is {text!r}; it must be a whole number above zero"
        raise ValueError(message)
    return int(text)
