"""Workers that are the pods of a Deployment, a StatefulSet, or anything else of Kubernetes that can be scaled."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.errors import RefusedError
from headgate.kube.parameters import login_of, refuse_unknown, target_of
from headgate.kube.scale import ScaleApi
from headgate.ports import Workers


class KubernetesProvider:
    """
    Sets the number of replicas through the scale subresource; Kubernetes does the rest, and replaces what dies.

    Its account needs `get` and `patch` of the resource's scale, and `list` of the namespace's pods.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Connect to nothing yet.

        Args:
            parameters: `name`; `kind`, `Deployment` (the default) or `StatefulSet`, or for anything else `group`,
                `version` and `plural`; `namespace`, by default `default`; `kubeconfig` and `context`, by default those
                of the pod in which Headgate runs, else those that `kubectl` would use; `request-timeout`, by default
                10 s.

        Raises:
            ValueError: something is missing, or too much.
            ConfigError: the client of Kubernetes is not installed.
        """
        refuse_unknown(parameters)
        self._target = target_of(parameters)
        self._api = ScaleApi(self._target, login_of(parameters))

    async def workers(self) -> Workers:
        """
        Count the pods that are ready; those that wait for a node, or end, are not.

        Raises:
            TransientError: no usable answer.
            PermanentError: there is no such resource, it is not allowed, or nobody has set its replicas yet.
        """
        scale = await self._api.read()
        if scale.wanted is None:
            message = f"{self._target} has no number of replicas yet. Hint: set one by hand, once"
            raise RefusedError(message)
        if not scale.selector:
            return Workers(wanted=scale.wanted, ready=scale.present)
        names = await self._api.ready_pods(scale.selector)
        return Workers(wanted=scale.wanted, ready=len(names), names=names)

    async def request(self, count: int, /) -> bool:
        """
        Set the replicas, unless they are set so.

        Raises:
            TransientError: no usable answer, or somebody changed it at the same time.
            PermanentError: there is no such resource, or it is not allowed.
        """
        if (await self._api.read()).wanted == count:
            return False
        await self._api.write(count)
        return True

    async def reconfigure(self, settings: Mapping[str, str], /) -> bool:
        """
        Refuse: where a worker's settings come from is for the image and its chart to say.

        Raises:
            RefusedError: always.
        """
        message = f"{self._target}: only its replicas can be changed, not {', '.join(sorted(settings)) or 'settings'}"
        raise RefusedError(message)

    async def close(self) -> None:
        """Let go of the connection. The pods stay."""
        await self._api.close()
