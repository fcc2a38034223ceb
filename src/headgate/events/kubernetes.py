"""
Events as Events of Kubernetes (`events.k8s.io/v1`), on the object that they are about: `kubectl describe` shows them.

It delivers or raises, within its time limit: `QueuedEventHandler` in front of it keeps its waiting out of the cycle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import structlog

from headgate.errors import ConflictError, HeadgateError, RefusedError, TransientError, UnreachableError
from headgate.events.delivery import identity_of
from headgate.events.kubernetes_objects import Objects, Place
from headgate.kube.api import Answered, KubernetesApi
from headgate.kube.blocking import BlockingApi
from headgate.kube.login import Login
from headgate.kube.pod import host_name, own_namespace
from headgate.model.events import Event, EventReason
from headgate.model.identity import JobKey
from headgate.model.instants import epoch_us
from headgate.options.events import KubernetesEventOptions

KEY, JOB, CLUSTER = "headgate/key", "headgate/job", "headgate/cluster"
"""Annotations: what repetitions have in common, and the subject as Headgate calls it."""

_CONTROLLER = "headgate/autoscaler"
_LONGEST_NOTE, _LONGEST_INSTANCE, _LONGEST_NAME = 1024, 128, 230
"""The API's own limits; that of a note counts bytes."""
_ATTEMPTS = 5
_FAULTY = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
"""What is said of the event itself; every other answer may change when somebody mends role or options."""
_KINDS: Final = {"Deployment": "apps/v1", "StatefulSet": "apps/v1", "Pod": "v1", "Namespace": "v1"}
_ACTIONS: Final = {
    EventReason.SCALING: "Rescale",
    EventReason.SCALING_REPORT: "Rescale",
    EventReason.RESCALE_REACHED: "Rescale",
    EventReason.RESCALE_NOT_REACHED: "Rescale",
    EventReason.ROLLBACK: "Rollback",
    EventReason.WORKERS_REQUESTED: "SetWorkers",
    EventReason.WORKERS_FAILED: "SetWorkers",
}

_log = structlog.get_logger(__name__)


class KubernetesEventHandler:
    """
    Makes one Event of each happening, under a name that follows from it, so that a second delivery finds it there.

    Merges by itself, among all processes: repetitions within their `merge_interval`, which begins at a multiple of
    itself, are counted in the `series` of the first. An event whose object cannot have one (no such namespace, no
    right there) goes to `events.kubernetes.object`. Call it from a thread that has no event loop.
    """

    merges = True

    def __init__(self, options: KubernetesEventOptions) -> None:
        """
        Connect to nothing yet.

        Raises:
            ConfigError: the client of Kubernetes is not installed.
        """
        login = Login(kubeconfig=options.kubeconfig, context=options.context, time_limit=options.time_limit)
        self._api = BlockingApi(login, subject="events")
        self._home = _home(options)
        self._objects = Objects()
        self._told: set[str] = set()

    def handle(self, event: Event, /) -> None:
        """
        Make the Event, or count it up.

        Raises:
            UnreachableError: no answer, or no way there, or it is not allowed, which is also logged once: somebody may
                mend kubeconfig, token or role.
            ConflictError: others count the same event up, again and again.
            RefusedError: the API will not take this event.
        """
        try:
            self._api.run(partial(self._deliver, event))
        except Answered as answer:
            message = f"Kubernetes refuses the event {event.key}: {answer.said}"
            raise RefusedError(message) from answer
        except RefusedError as error:
            raise UnreachableError(str(error)) from error

    def close(self) -> None:
        """Let go of the connection."""
        self._api.close()

    async def _deliver(self, event: Event, api: KubernetesApi) -> None:
        place = await self._objects.find(api, event.subject)
        if place is None or not await self._is_taken(api, event, place):
            home = await self._objects.complete(api, self._home)
            if not await self._is_taken(api, event, home):
                message = f"no Event can be made in namespace {home.namespace}"
                raise UnreachableError(message)

    async def _is_taken(self, api: KubernetesApi, event: Event, place: Place) -> bool:
        """
        Tell of it there; false where no event can be, which is logged once until one can.

        Raises:
            Answered: the fault is the event's own.
        """
        try:
            await _tell(api, event, place)
        except Answered as answer:
            if answer.status in _FAULTY:
                raise
            error = api.translated(answer, f"create, get and patch on events in namespace {place.namespace}")
            if isinstance(error, TransientError):
                raise error from answer
            self._say_once(place.namespace, error)
            return False
        self._told.discard(place.namespace)
        return True

    def _say_once(self, namespace: str, error: HeadgateError) -> None:
        if namespace not in self._told:
            self._told.add(namespace)
            _log.warning("KubernetesEventsRefused", namespace=namespace, message=str(error))


async def _tell(api: KubernetesApi, event: Event, place: Place) -> None:
    """Make the Event, or count up the one that is there."""
    path = f"/apis/events.k8s.io/v1/namespaces/{place.namespace}/events"
    for _ in range(_ATTEMPTS):
        try:
            await api.call("POST", path, body=_body(event, place))
        except Answered as answer:
            if answer.status != HTTPStatus.CONFLICT:
                raise
        else:
            return
        if event.merge_interval is None or await _is_counted(api, f"{path}/{_name(event, place)}", event):
            return
    message = f"too many others tell of {event.key} at the same time"
    raise ConflictError(message)


async def _is_counted(api: KubernetesApi, path: str, event: Event) -> bool:
    """Count the event up; false when somebody else has changed or removed it meanwhile."""
    try:
        found = await api.call("GET", path)
        series = found.get("series") or {"count": 1, "lastObservedTime": found["eventTime"]}
        if event.at > datetime.fromisoformat(series["lastObservedTime"]):
            counted = {"count": series["count"] + 1, "lastObservedTime": _time(event.at)}
            version = {"resourceVersion": found["metadata"]["resourceVersion"]}
            await api.call("PATCH", path, body={"metadata": version, "series": counted})
    except Answered as answer:
        if answer.status in {HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND}:
            return False
        raise
    return True


def _body(event: Event, place: Place) -> Mapping[str, Any]:
    subject = JOB if isinstance(event.subject, JobKey) else CLUSTER
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": _name(event, place), "annotations": {KEY: event.key, subject: str(event.subject)}},
        "regarding": place.reference,
        "type": event.type.value,
        "reason": event.reason.value,
        "action": _ACTIONS.get(event.reason, "Watch"),
        "note": _shortened(event.message),
        "eventTime": _time(event.at),
        "reportingController": _CONTROLLER,
        "reportingInstance": host_name()[:_LONGEST_INSTANCE],
    }


def _name(event: Event, place: Place) -> str:
    """Give the same name to the same happening, and to repetitions within an interval."""
    identity = identity_of(event)
    if event.merge_interval is not None:
        number = epoch_us(event.at) // (event.merge_interval // timedelta(microseconds=1))
        words = f"{event.subject}\n{event.reason}\n{event.key}\n{event.merge_interval}\n{number}"
        identity = hashlib.sha256(words.encode()).hexdigest()
    return f"{place.name[:_LONGEST_NAME].rstrip('.-')}.{identity[:20]}"


def _shortened(message: str) -> str:
    encoded = message.encode()
    if len(encoded) <= _LONGEST_NOTE:
        return message
    return encoded[: _LONGEST_NOTE - 3].decode(errors="ignore") + "…"


def _time(at: datetime) -> str:
    """Write it with six digits of the second, no fewer: the API reads nothing else."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _home(options: KubernetesEventOptions) -> Place:
    inside = own_namespace()
    namespace = options.namespace or inside or "default"
    usual = f"Pod/{host_name()}" if inside else f"Namespace/{namespace}"
    kind, _, name = (options.object or usual).partition("/")
    return Place(api_version=_KINDS[kind], kind=kind, namespace=namespace, name=name)
