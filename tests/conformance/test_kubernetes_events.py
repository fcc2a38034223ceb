"""Events of a real Kubernetes keep the contract of events, and are found where people look for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.services.kubernetes import Kubernetes

from headgate.errors import UnreachableError
from headgate.events.kubernetes import CLUSTER, JOB, KEY, KubernetesEventHandler
from headgate.model.identity import JobKey
from headgate.options.events import KubernetesEventOptions
from headgate.testing.conformance.event_handler import Heard, RemoteEventHandlerSuite, deliver, event

HALF_AN_HOUR = timedelta(minutes=30)
_RIGHTS = {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "get", "patch"]}

client: Any = import_module("kubernetes.client")


@dataclass(frozen=True, kw_only=True)
class KubernetesStage:
    """A namespace whose events are read by somebody who may, and a handler with a kubeconfig of its own."""

    kubernetes: Kubernetes
    namespace: str
    kubeconfig: Path
    options: KubernetesEventOptions
    handler: KubernetesEventHandler = field(init=False)

    def __post_init__(self) -> None:
        """Make the handler."""
        object.__setattr__(self, "handler", KubernetesEventHandler(self.options))

    def events(self, namespace: str = "") -> Sequence[Any]:
        """Give what has arrived, in order."""
        with self.kubernetes.api() as api:
            found = client.EventsV1Api(api).list_namespaced_event(namespace or self.namespace).items
        return sorted(found, key=lambda one: int(one.metadata.resource_version))

    def heard(self) -> list[Heard]:
        """Give the same as a receiver knows it."""
        return [_heard(one) for one in self.events()]

    def go_silent(self) -> None:
        """Lead the handler astray."""
        address = "https://127.0.0.1:1"
        self._write(self.kubernetes.kubeconfig.read_text().replace("server: https://", f"server: {address}/"))

    def come_back(self) -> None:
        """Lead it to the server."""
        self._write(self.kubernetes.kubeconfig.read_text())

    def _write(self, kubeconfig: str) -> None:
        self.handler.close()
        self.kubeconfig.write_text(kubeconfig)


def _heard(one: Any) -> Heard:
    notes = one.metadata.annotations
    return Heard(
        key=notes[KEY],
        reason=one.reason,
        subject=notes.get(JOB) or notes[CLUSTER],
        message=one.note,
        identity=one.metadata.name,
    )


@pytest.fixture
def stage(kubernetes: Kubernetes, tmp_path: Path) -> Iterator[KubernetesStage]:
    """Give a namespace of its own."""
    namespace, kubeconfig = kubernetes.create_namespace(), tmp_path / "kubeconfig"
    kubeconfig.write_text(kubernetes.kubeconfig.read_text())
    options = KubernetesEventOptions(namespace=namespace, kubeconfig=str(kubeconfig))
    stage = KubernetesStage(kubernetes=kubernetes, namespace=namespace, kubeconfig=kubeconfig, options=options)
    with closing(stage.handler):
        yield stage


class TestKubernetesEventHandler(RemoteEventHandlerSuite):
    """About no FlinkDeployment, so about the namespace."""

    @pytest.fixture
    def stage(self, stage: KubernetesStage) -> KubernetesStage:
        """Give one that was told nothing yet."""
        return stage


def test_a_jobs_events_are_about_its_deployment(stage: KubernetesStage) -> None:
    """In the deployment's namespace, with all that an Event says who made it and why."""
    deliver(stage.handler, event(subject=JobKey(f"k8s:{stage.namespace}.orders", "orders")))
    (one,) = stage.events()
    assert (one.regarding.kind, one.regarding.name, one.regarding.namespace) == (
        "FlinkDeployment",
        "orders",
        stage.namespace,
    )
    assert (one.type, one.action, one.reporting_controller) == ("Warning", "Rescale", "headgate/autoscaler")
    assert one.metadata.name.startswith("orders.")


def test_repetitions_become_a_series(stage: KubernetesStage) -> None:
    """Counted in one Event within the interval, a second delivery of one not; what comes later is another Event."""
    with closing(KubernetesEventHandler(stage.options)) as other:
        for handler, minute in [(stage.handler, 0), (other, 1), (other, 1), (stage.handler, 2), (stage.handler, 30)]:
            deliver(handler, replace(event(minute=minute), merge_interval=HALF_AN_HOUR))
    first, second = stage.events()
    assert (first.series.count, first.series.last_observed_time - first.event_time) == (3, timedelta(minutes=2))
    assert second.series is None


def test_a_long_message_is_cut(stage: KubernetesStage) -> None:
    """Where the API would refuse it: at 1024 bytes, and in no letter's middle."""
    deliver(stage.handler, replace(event(), message="ü" * 1024))
    (one,) = stage.events()
    assert one.note == "ü" * 510 + "…"


def test_without_a_right_there_it_is_told_at_home(stage: KubernetesStage, tmp_path: Path) -> None:
    """And the log says so, once."""
    elsewhere = stage.kubernetes.create_namespace()
    account = stage.kubernetes.create_account(stage.namespace, [_RIGHTS], tmp_path / "account")
    options = replace(stage.options, kubeconfig=str(account))
    with closing(KubernetesEventHandler(options)) as handler, capture_logs() as lines:
        for minute in range(3):
            handler.handle(event(minute=minute, subject=JobKey(f"k8s:{elsewhere}.orders", "orders")))
    assert [one.regarding.kind for one in stage.events()] == ["Namespace"] * 3
    assert stage.events(elsewhere) == []
    assert [line["event"] for line in lines] == ["KubernetesEventsRefused"]
    assert "create, get and patch on events" in lines[0]["message"]


def test_without_any_right_it_waits(stage: KubernetesStage, tmp_path: Path) -> None:
    """Somebody may mend the role: the event is not lost, and the log says it once."""
    account = stage.kubernetes.create_account(stage.namespace, [], tmp_path / "account")
    options = replace(stage.options, kubeconfig=str(account))
    with closing(KubernetesEventHandler(options)) as handler, capture_logs() as lines:
        for _ in range(2):
            with pytest.raises(UnreachableError, match="no Event can be made"):
                handler.handle(event())
    assert len(lines) == 1
    assert stage.events() == []
