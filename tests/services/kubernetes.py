"""
A Kubernetes for tests: a private one, or the one of the kubeconfig that `HEADGATE_TEST_KUBECONFIG` names.

A private one is made from programs in the cache; `make services` builds them.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from tests.services.control_plane import ControlPlane

from headgate.engines.flink.local.cache import cache_root
from headgate.engines.flink.local.processes import Children

KUBECONFIG_VARIABLE = "HEADGATE_TEST_KUBECONFIG"

Rule = Mapping[str, Sequence[str]]

_PATIENCE = timedelta(seconds=1)
"""Nothing of it is kept, so none of its programs needs to end well."""
_FLINK = Path(__file__).parent / "flink-definitions.yaml"
_FIRST_CREATE_S = 2.0
"""As long after a definition is there the server keeps whoever creates the first resource waiting."""
_NODE = {"cpu": "32", "memory": "256Gi", "pods": "110"}
_HEARSAY_S = 60.0
_ROLES = "rbac.authorization.k8s.io"

client: Any = import_module("kubernetes.client")
"""Without its types, which know no plain mappings."""
config: Any = import_module("kubernetes.config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubernetes:
    """A running one, by the kubeconfig of somebody who may do everything."""

    kubeconfig: Path

    @contextmanager
    def api(self) -> Iterator[Any]:
        """Give the official client, the blocking one, for some calls."""
        with config.new_client_from_config(str(self.kubeconfig)) as api:
            yield api

    def create_node(self) -> None:
        """Make a node, which KWOK takes care of."""
        with self.api() as api:
            status = {"allocatable": _NODE, "capacity": _NODE}
            client.CoreV1Api(api).create_node({"metadata": {"name": "node"}, "status": status})

    def define_flink(self) -> None:
        """Install the definitions of Flink's operator, and wait until resources can be created without delay."""
        definitions = list(yaml.safe_load_all(_FLINK.read_text()))
        with self.api() as api:
            for definition in definitions:
                with suppress(client.ApiException):  # it may have them already
                    client.ApiextensionsV1Api(api).create_custom_resource_definition(definition)
            _wait_until(lambda: all(_is_served(api, one["spec"]) for one in definitions))
        time.sleep(_FIRST_CREATE_S)

    def create_namespace(self) -> str:
        """Make one that nobody else has."""
        name = f"headgate-{secrets.token_hex(4)}"
        with self.api() as api:
            client.CoreV1Api(api).create_namespace({"metadata": {"name": name}})
        return name

    def create_workers(self, kind: str, namespace: str, *, cpu: str = "1") -> str:
        """Create a Deployment or StatefulSet without replicas, each of which will want so many cores."""
        name = f"workers-{secrets.token_hex(4)}"
        labels = {"app": name}
        container = {"name": "worker", "image": "registry.k8s.io/pause", "resources": {"requests": {"cpu": cpu}}}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template, "serviceName": name}
        with self.api() as api:
            apps, body = client.AppsV1Api(api), {"metadata": {"name": name}, "spec": spec}
            if kind == "StatefulSet":
                apps.create_namespaced_stateful_set(namespace, body)
            else:
                del spec["serviceName"]
                apps.create_namespaced_deployment(namespace, body)
        return name

    def read(self, group: str, version: str, plural: str, namespace: str, name: str) -> Mapping[str, Any]:
        """Give a custom resource as it is now."""
        with self.api() as api:
            found: Mapping[str, Any] = client.CustomObjectsApi(api).get_namespaced_custom_object(
                group, version, namespace, plural, name
            )
            return found

    def delete_pod(self, namespace: str, name: str) -> None:
        """Let a pod end, as a lost machine would."""
        with self.api() as api:
            client.CoreV1Api(api).delete_namespaced_pod(name, namespace, grace_period_seconds=0)

    def create_account(self, namespace: str, rules: Sequence[Rule], file: Path) -> Path:
        """Make somebody who may do nothing but what the rules say, and write the kubeconfig."""
        name = {"name": f"account-{secrets.token_hex(4)}"}
        subject = {"kind": "ServiceAccount", "namespace": namespace, **name}
        role = {"apiGroup": _ROLES, "kind": "Role", **name}
        with self.api() as api:
            core, rbac = client.CoreV1Api(api), client.RbacAuthorizationV1Api(api)
            core.create_namespaced_service_account(namespace, {"metadata": name})
            rbac.create_namespaced_role(namespace, {"metadata": name, "rules": list(rules)})
            binding = {"metadata": name, "subjects": [subject], "roleRef": role}
            rbac.create_namespaced_role_binding(namespace, binding)
            answer = core.create_namespaced_service_account_token(name["name"], namespace, {"spec": {"audiences": []}})
        known = yaml.safe_load(self.kubeconfig.read_text())
        users = [{**one, "user": {"token": answer.status.token}} for one in known["users"]]
        file.write_text(yaml.safe_dump({**known, "users": users}))
        _wait_for_rights(file, namespace, rules)
        return file


def _wait_for_rights(kubeconfig: Path, namespace: str, rules: Sequence[Rule]) -> None:
    """Wait until the server has heard of an account and its role."""
    asked = [(rule["apiGroups"][0], *rule["resources"][0].split("/"), verb) for rule in rules for verb in rule["verbs"]]
    with config.new_client_from_config(str(kubeconfig)) as api:
        _wait_until(lambda: all(_is_allowed(api, namespace, *one) for one in asked))


def _wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _HEARSAY_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_served(api: Any, definition: Mapping[str, Any]) -> bool:
    """Ask for resources: at first there is nothing there, and then a storage that is not ready."""
    group, version, plural = definition["group"], definition["versions"][0]["name"], definition["names"]["plural"]
    try:
        client.CustomObjectsApi(api).list_cluster_custom_object(group, version, plural)
    except client.ApiException:
        return False
    return True


def _is_allowed(api: Any, namespace: str, group: str, resource: str, *part_and_verb: str) -> bool:
    *part, verb = part_and_verb
    attributes = {"namespace": namespace, "group": group, "resource": resource, "verb": verb}
    question = {"spec": {"resourceAttributes": attributes | {"subresource": "".join(part)}}}
    try:
        answer = client.AuthorizationV1Api(api).create_self_subject_access_review(question)
    except client.ApiException:
        return False
    return bool(answer.status.allowed)


@pytest.fixture(scope="session")
def kubernetes() -> Iterator[Kubernetes]:
    """Give a running one."""
    if named := os.environ.get(KUBECONFIG_VARIABLE):
        yield Kubernetes(kubeconfig=Path(named))
        return
    built = sorted(cache_root().glob("kubernetes-*"))
    if not built:
        pytest.skip("the programs of Kubernetes are not in the cache. Hint: run `make services`")
    children = Children()
    with TemporaryDirectory(prefix="headgate-kubernetes-") as folder:
        try:
            plane = ControlPlane(programs=built[-1], directory=Path(folder), children=children)
            running = Kubernetes(kubeconfig=plane.start())
            running.create_node()
            yield running
        finally:
            children.close(patience=_PATIENCE)


@pytest.fixture(scope="session")
def flink_kubernetes(kubernetes: Kubernetes) -> Kubernetes:
    """Give one that knows the resources of Flink's operator."""
    kubernetes.define_flink()
    return kubernetes
