"""Asks Kubernetes for the resources of Flink's operator, and changes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from headgate.engines.kubernetes.resources import GROUP, VERSION, FlinkResource, Plural, read_resource
from headgate.errors import HeadgateError, NotFoundError, UnreachableError
from headgate.kube.api import Answered, KubernetesApi
from headgate.kube.login import Login
from headgate.options.kubernetes import KubernetesOptions

_PAGE = "500"
_ATTEMPTS = 2
"""How often a list is begun: what the pages are taken from may be compacted away meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What there is."""

    deployments: Sequence[FlinkResource] = ()
    session_jobs: Sequence[FlinkResource] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    """Why a namespace, or one `namespace.deployment`, could not be looked at; the empty name stands for all."""


class ResourceApi:
    """The resources of one Kubernetes cluster."""

    def __init__(self, options: KubernetesOptions) -> None:
        """
        Connect to nothing yet.

        Raises:
            ConfigError: the client of Kubernetes is not installed.
        """
        login = Login(kubeconfig=options.kubeconfig, context=options.context, time_limit=options.request_timeout)
        self._api = KubernetesApi(login, subject=f"Kubernetes cluster {options.name}")
        self._options = options

    async def find(self) -> Listing:
        """List everything that the options want; a namespace that cannot be looked at is a failure in the answer."""
        found: dict[Plural, list[FlinkResource]] = {plural: [] for plural in Plural}
        failures = {}
        for namespace in self._options.namespaces or ("",):
            try:
                parts = {plural: await self._list(plural, namespace) for plural in Plural}
            except HeadgateError as error:
                failures[namespace] = str(error)
            else:
                for plural, part in parts.items():
                    found[plural] += part
        await self._complete(found, failures)
        return Listing(deployments=found[Plural.DEPLOYMENT], session_jobs=found[Plural.SESSION_JOB], failures=failures)

    async def read(self, resource: FlinkResource) -> FlinkResource:
        """
        Read a resource anew.

        Raises:
            HeadgateError: as `KubernetesApi.translated` tells.
        """
        found = await self._api.ask("GET", resource.path, right=_right("get", resource.plural))
        return read_resource(resource.plural, found)

    async def patch(self, resource: FlinkResource, spec: Mapping[str, Any]) -> FlinkResource:
        """
        Change some of a resource's `spec`, if nobody has changed the resource since it was read.

        Raises:
            ConflictError: somebody has.
            HeadgateError: as `KubernetesApi.translated` tells.
        """
        body = {"metadata": {"resourceVersion": resource.version}, "spec": spec}
        found = await self._api.ask("PATCH", resource.path, right=_right("patch", resource.plural), body=body)
        return read_resource(resource.plural, found)

    async def close(self) -> None:
        """Let go of the connection."""
        await self._api.close()

    async def _list(self, plural: Plural, namespace: str) -> list[FlinkResource]:
        for _ in range(_ATTEMPTS):
            try:
                return await self._pages(plural, namespace)
            except Answered as answer:
                if answer.status != HTTPStatus.GONE:
                    raise self._translated(answer, plural) from answer
        message = f"{plural} cannot be listed: every time they had changed too much before the last page"
        raise UnreachableError(message)

    async def _pages(self, plural: Plural, namespace: str) -> list[FlinkResource]:
        place = f"namespaces/{namespace}/" if namespace else ""
        path, found, further = f"/apis/{GROUP}/{VERSION}/{place}{plural}", list[FlinkResource](), ""
        while True:
            page = await self._api.call("GET", path, query=self._query(further))
            found += [read_resource(plural, item) for item in page["items"]]
            further = page["metadata"].get("continue", "")
            if not further:
                return found

    def _query(self, further: str) -> Sequence[tuple[str, str]]:
        query = {"limit": _PAGE, "labelSelector": self._options.label_selector, "continue": further}
        return [(name, text) for name, text in query.items() if text]

    async def _complete(self, found: Mapping[Plural, list[FlinkResource]], failures: dict[str, str]) -> None:
        """Add the clusters of session jobs where the label selector has left them out."""
        known = {(one.namespace, one.name) for one in found[Plural.DEPLOYMENT]}
        for namespace, name in sorted({(one.namespace, one.deployment) for one in found[Plural.SESSION_JOB]} - known):
            path = f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/{Plural.DEPLOYMENT}/{name}"
            try:
                answer = await self._api.ask("GET", path, right=_right("get", Plural.DEPLOYMENT))
            except NotFoundError:
                continue  # its session job waits for it
            except HeadgateError as error:
                failures[f"{namespace}.{name}"] = str(error)
            else:
                found[Plural.DEPLOYMENT].append(read_resource(Plural.DEPLOYMENT, answer))

    def _translated(self, answer: Answered, plural: Plural) -> HeadgateError:
        error = self._api.translated(answer, _right("list", plural))
        if isinstance(error, NotFoundError):
            return NotFoundError(f"{error}. Hint: the definition of {plural}.{GROUP} is not installed")
        return error


def _right(verb: str, plural: Plural) -> str:
    return f"{verb} on {plural} of group {GROUP}"
