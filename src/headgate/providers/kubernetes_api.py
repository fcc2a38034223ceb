"""The few calls of Kubernetes' API that counting and setting replicas takes, through the official client."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any

import aiohttp

from headgate.errors import (
    ConfigError,
    ConflictError,
    HeadgateError,
    NotFoundError,
    RefusedError,
    UnreachableError,
)

_IN_CLUSTER = "KUBERNETES_SERVICE_HOST"
"""What Kubernetes sets in every container of its own."""
_ABSENT = "replicas field"
"""Of what is said of a resource that has a scale and no number in it yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is scaled: one resource that has a scale subresource."""

    group: str
    version: str
    plural: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Name it as `kubectl` does."""
        return f"{self.plural}.{self.group}/{self.name} in namespace {self.namespace}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a scale subresource tells."""

    wanted: int | None
    """None: nobody has set it yet."""
    present: int
    """Replicas that the controller has seen, ready or not."""
    selector: str
    """Of their pods; empty where the resource does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Where the API and the right to use it are found."""

    kubeconfig: str = ""
    """Empty: that of the pod in which Headgate runs, else `$KUBECONFIG`, else the one of the home directory."""
    context: str = ""
    """Empty: the file's current one."""
    time_limit: timedelta = timedelta(seconds=10)


class ScaleApi:
    """Reads and writes one scale; connects at the first call, and anew after one that was not let in."""

    def __init__(self, target: Target, login: Login) -> None:
        """
        Connect to nothing yet.

        Raises:
            ConfigError: the client is not installed.
        """
        self._target = target
        self._login = login
        try:
            # An extra: only who declares such a provider needs it, or waits for its import.
            self._client: Any = import_module("kubernetes.aio.client")
            self._config: Any = import_module("kubernetes.aio.config")
        except ModuleNotFoundError as error:
            hint = "Hint: pip install headgate[kubernetes]"
            raise ConfigError([f"the client of Kubernetes is missing. {hint}"]) from error
        self._open: Any = None

    async def read(self) -> Scale:
        """
        Give the scale.

        Raises:
            HeadgateError: as `_translated` tells.
        """
        async with self._calling("get", "scale") as custom:
            try:
                found = await custom.get_namespaced_custom_object_scale(*self._place, _request_timeout=self._limit_s)
            except self._client.ApiException as error:
                if error.status == HTTPStatus.INTERNAL_SERVER_ERROR and _ABSENT in _said(error):
                    return Scale(wanted=None, present=0, selector="")
                raise
        wanted, status = found.get("spec", {}).get("replicas", 0), found.get("status", {})
        return Scale(wanted=wanted, present=status.get("replicas", 0), selector=status.get("selector", ""))

    async def write(self, count: int) -> None:
        """
        Set the number of replicas, whoever set it before.

        Raises:
            HeadgateError: as `_translated` tells.
        """
        async with self._calling("patch", "scale") as custom:
            wish = {"spec": {"replicas": count}}
            await custom.patch_namespaced_custom_object_scale(*self._place, wish, _request_timeout=self._limit_s)

    async def ready_pods(self, selector: str) -> tuple[str, ...]:
        """
        Give the names of the pods that are ready and not being deleted.

        Raises:
            HeadgateError: as `_translated` tells.
        """
        async with self._calling("list", "pods") as custom:
            # As it comes: to make an object of every part of every pod would keep everything else waiting.
            core = self._client.CoreV1Api(custom.api_client)
            answer = await core.list_namespaced_pod_without_preload_content(
                self._target.namespace, label_selector=selector, _request_timeout=self._limit_s
            )
            text = await answer.text()
            if answer.status != HTTPStatus.OK:
                raise self._client.ApiException(status=answer.status, reason=answer.reason, body=text)
        return tuple(sorted(pod["metadata"]["name"] for pod in json.loads(text)["items"] if _is_ready(pod)))

    async def close(self) -> None:
        """Let go of the connection."""
        opened, self._open = self._open, None
        if opened is not None:
            await opened.close()

    @asynccontextmanager
    async def _calling(self, verb: str, part: str) -> AsyncIterator[Any]:
        try:
            yield self._client.CustomObjectsApi(await self._opened())
        except self._client.ApiException as error:
            if error.status == HTTPStatus.UNAUTHORIZED:
                await self.close()
            raise self._translated(error, verb, part) from error
        except self._config.ConfigException as error:
            message = f"{self._target}: no way to Kubernetes: {error}. Hint: name a kubeconfig"
            raise RefusedError(message) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            why = str(error) or f"no answer within {self._limit_s:g} s"
            message = f"{self._target}: Kubernetes cannot be reached: {why}"
            raise UnreachableError(message) from error

    async def _opened(self) -> Any:
        if self._open is None:
            configuration, login = self._client.Configuration(), self._login
            if _is_missing(login.kubeconfig):
                message = f"there is no file {login.kubeconfig}"
                raise self._config.ConfigException(message)
            if not login.kubeconfig and _IN_CLUSTER in os.environ:
                self._config.load_incluster_config(client_configuration=configuration)
            else:
                await self._config.load_kube_config(
                    config_file=login.kubeconfig or None,
                    context=login.context or None,
                    client_configuration=configuration,
                    persist_config=False,
                )
            self._open = self._client.ApiClient(configuration)
        return self._open

    def _translated(self, error: Any, verb: str, part: str) -> HeadgateError:
        """Give what an answer other than yes means for whoever asked."""
        said = f"{self._target}: {_said(error)}"
        resource = "pods" if part == "pods" else f"{self._target.plural}/{part} of group {self._target.group}"
        match error.status:
            case HTTPStatus.UNAUTHORIZED:
                return RefusedError(f"{said}. Hint: the token or certificate does not hold, or not any more")
            case HTTPStatus.FORBIDDEN:
                return RefusedError(f"{said}. Hint: its role needs the verb {verb} on {resource}")
            case HTTPStatus.NOT_FOUND:
                return NotFoundError(f"{said}. Hint: there must be such a resource, with a scale subresource")
            case HTTPStatus.CONFLICT:
                return ConflictError(said)
            case status if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                return UnreachableError(said)
        return RefusedError(said)

    @property
    def _place(self) -> tuple[str, ...]:
        target = self._target
        return target.group, target.version, target.namespace, target.plural, target.name

    @property
    def _limit_s(self) -> float:
        return self._login.time_limit.total_seconds()


def _is_missing(kubeconfig: str) -> bool:
    """Look before the client does, which would print that it found none."""
    return bool(kubeconfig) and not Path(kubeconfig).is_file()


def _said(error: Any) -> str:
    """Give the server's own words; some answers are no JSON."""
    try:
        return str(json.loads(error.body)["message"])
    except (TypeError, ValueError, KeyError):
        return f"status {error.status}: {str(error.body or error.reason).strip()}"


def _is_ready(pod: Mapping[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]
