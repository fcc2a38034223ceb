"""What deploy/kubernetes holds, on a real API server: taken as it is, it gives Headgate what it needs and no more."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from importlib import import_module
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.services.kubernetes import Kubernetes

from headgate.config.loading import load
from headgate.events.kubernetes import KubernetesEventHandler
from headgate.kube.api import Answered
from headgate.kube.blocking import BlockingApi
from headgate.kube.login import Login
from headgate.model.identity import JobKey
from headgate.options.events import KubernetesEventOptions
from headgate.stores.lease_objects import LeaseObject, LeaseObjects
from headgate.testing.conformance.event_handler import event

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
NAME, PATIENCE_S = "headgate", 120.0
FLINK, APPS, ROLES = "flink.apache.org", "apps", "rbac.authorization.k8s.io"
_CLUSTERS = frozenset({"ClusterRole", "ClusterRoleBinding"})

Right = tuple[str, str, str]
"""Verb, resource, and its group."""

OWN: Sequence[Right] = [
    *(
        (verb, plural, FLINK)
        for verb in ("get", "list", "patch")
        for plural in ("flinkdeployments", "flinksessionjobs")
    ),
    *((verb, "leases", "coordination.k8s.io") for verb in ("list", "create", "patch")),
    *((verb, "events", "events.k8s.io") for verb in ("get", "create", "patch")),
]
WORKERS: Sequence[Right] = [
    *((verb, f"{plural}/scale", APPS) for verb in ("get", "patch") for plural in ("deployments", "statefulsets")),
    *((verb, "flinkdeployments/scale", FLINK) for verb in ("get", "patch")),
    ("list", "pods", ""),
]
NOBODYS: Sequence[Right] = [
    *((verb, plural, FLINK) for verb in ("create", "delete", "update") for plural in ("flinkdeployments",)),
    ("patch", "flinkdeployments/status", FLINK),
    *((verb, "secrets", "") for verb in ("get", "list", "watch")),
    *((verb, "pods", "") for verb in ("create", "delete")),
    ("create", "pods/exec", ""),
    ("get", "configmaps", ""),
    ("patch", "deployments", APPS),
    ("patch", "statefulsets", APPS),
    ("delete", "leases", "coordination.k8s.io"),
    ("delete", "events", "events.k8s.io"),
    ("create", "rolebindings", ROLES),
    ("escalate", "roles", ROLES),
    ("create", "serviceaccounts/token", ""),
]

client: Any = import_module("kubernetes.client")


@dataclass(frozen=True, kw_only=True)
class Site:
    """A namespace into which something of the folder is put, and the account that comes with it."""

    kubernetes: Kubernetes
    api: BlockingApi
    namespace: str
    kubeconfig: Path
    """The account's own."""

    def apply(self, part: str) -> None:
        """Make everything of a part, and let the server refuse what it does not know."""
        for one in manifests(FOLDER / part, self.namespace):
            self.ask("POST", path_of(one), query=[("fieldValidation", "Strict")], body=one)

    def ask(self, method: str, path: str, **asked: Any) -> Any:
        """Do a call as somebody who may do everything."""
        return self.api.run(lambda api: api.call(method, path, **asked))

    def log_in(self) -> None:
        """Write a kubeconfig with a token of the account's."""
        with self.kubernetes.api() as api:
            core = client.CoreV1Api(api)
            answer = core.create_namespaced_service_account_token(NAME, self.namespace, {"spec": {"audiences": []}})
        known = yaml.safe_load(self.kubernetes.kubeconfig.read_text())
        users = [{**one, "user": {"token": answer.status.token}} for one in known["users"]]
        self.kubeconfig.write_text(yaml.safe_dump({**known, "users": users}))

    @contextmanager
    def account(self) -> Iterator[BlockingApi]:
        """Give the API as the account has it."""
        with closing(BlockingApi(Login(kubeconfig=str(self.kubeconfig)), subject="the account")) as api:
            yield api

    def allowed(self, rights: Sequence[Right], namespace: str = "", name: str = "") -> Sequence[Right]:
        """Ask the server, as the account, which of these it has."""
        with self.account() as account:
            return [one for one in rights if _is_allowed(account, one, namespace or self.namespace, name)]

    def wait_until_allowed(self, rights: Sequence[Right]) -> None:
        """Wait until the server has heard of roles."""
        deadline = time.monotonic() + PATIENCE_S
        while list(rights) != list(self.allowed(rights)):
            assert time.monotonic() < deadline, set(rights) - set(self.allowed(rights))
            time.sleep(0.1)


def _is_allowed(account: BlockingApi, right: Right, namespace: str, name: str) -> bool:
    verb, (resource, _, part), group = right[0], right[1].partition("/"), right[2]
    asked = {"verb": verb, "resource": resource, "subresource": part, "group": group}
    body = {"spec": {"resourceAttributes": {**asked, "namespace": namespace, "name": name}}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    answer = account.run(lambda api: api.call("POST", path, body=body))
    return bool(answer["status"]["allowed"])


def manifests(folder: Path, namespace: str) -> Iterator[dict[str, Any]]:
    """Give what a kustomization lists, put into a namespace as kustomize would."""
    for file in yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]:
        one = yaml.safe_load((folder / file).read_text())
        if one["kind"] in _CLUSTERS:
            one["metadata"]["name"] = f"{NAME}-{namespace}"  # which kustomize does not: they are every namespace's
            if "roleRef" in one:
                one["roleRef"]["name"] = f"{NAME}-{namespace}"
        else:
            one["metadata"]["namespace"] = namespace
        for subject in one.get("subjects", ()):
            subject["namespace"] = namespace
        yield one


def path_of(manifest: Mapping[str, Any]) -> str:
    """Give where objects of its kind are made."""
    version, kind = manifest["apiVersion"], manifest["kind"]
    group = f"/apis/{version}" if "/" in version else f"/api/{version}"
    place = "" if kind in _CLUSTERS else f"/namespaces/{manifest['metadata']['namespace']}"
    return f"{group}{place}/{kind.lower()}s"


@pytest.fixture(scope="module")
def site(flink_kubernetes: Kubernetes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Give a namespace that takes only what is restricted as pods should be, with the base in it."""
    kubernetes = flink_kubernetes
    namespace = kubernetes.create_namespace()
    with kubernetes.api() as api:
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        client.CoreV1Api(api).patch_namespace(namespace, {"metadata": {"labels": labels}})
    with closing(BlockingApi(Login(kubeconfig=str(kubernetes.kubeconfig)), subject="everybody")) as everybody:
        kubeconfig = tmp_path_factory.mktemp("account") / "kubeconfig"
        site = Site(kubernetes=kubernetes, api=everybody, namespace=namespace, kubeconfig=kubeconfig)
        site.apply("base")
        site.log_in()
        site.wait_until_allowed(OWN)
        yield site


def test_the_account_has_what_it_needs_and_no_more(site: Site) -> None:
    """Nothing of other people's, nothing in other namespaces, nothing on workers before it is asked for."""
    assert site.allowed([*WORKERS, *NOBODYS]) == []
    assert site.allowed(OWN, namespace="default") == []
    assert site.allowed([("get", "statefulsets", APPS)], name=NAME)
    assert not site.allowed([("get", "statefulsets", APPS)], name="other")


def test_workers_take_a_role_of_their_own(site: Site) -> None:
    """It is added to the base."""
    site.apply("workers")
    site.wait_until_allowed(WORKERS)
    assert site.allowed(NOBODYS) == []


def test_several_namespaces_take_a_cluster_role(site: Site) -> None:
    """It gives the Flink resources and their events everywhere, and leases nowhere else."""
    site.apply("several-namespaces")
    leases = [one for one in OWN if one[1] == "leases"]
    site.wait_until_allowed(OWN)
    deadline = time.monotonic() + PATIENCE_S
    while len(site.allowed(OWN, namespace="default")) < len(OWN) - len(leases):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert site.allowed([*leases, *NOBODYS], namespace="default") == []
    _remove_cluster_role(site)


def _remove_cluster_role(site: Site) -> None:
    name = f"{NAME}-{site.namespace}"
    with site.kubernetes.api() as api:
        client.RbacAuthorizationV1Api(api).delete_cluster_role_binding(name)
        client.RbacAuthorizationV1Api(api).delete_cluster_role(name)


def test_leases_and_events_work_with_the_account(site: Site) -> None:
    """Not only on paper: a Lease is made, found and renewed, an Event made, and about the StatefulSet."""
    login = Login(kubeconfig=str(site.kubeconfig))
    with closing(LeaseObjects(login, namespace=site.namespace, prefix=NAME)) as objects:
        wanted = LeaseObject(shard=1, holder="host/anna", token=1, duration=timedelta(seconds=30))
        assert isinstance(objects.write_all([wanted])[1], LeaseObject)
        assert isinstance(objects.write_all(objects.read_all())[1], LeaseObject)
    options = KubernetesEventOptions(
        namespace=site.namespace, object=f"StatefulSet/{NAME}", kubeconfig=str(site.kubeconfig)
    )
    with closing(KubernetesEventHandler(options)) as handler:
        for minute in (0, 0, 1):
            handler.handle(event(minute=minute))
    made = site.ask("GET", f"/apis/events.k8s.io/v1/namespaces/{site.namespace}/events")["items"]
    about = [one["regarding"] for one in made if one["reportingController"] == "headgate/autoscaler"]
    assert [one["kind"] for one in about] == ["StatefulSet"] * 2
    assert all(one["uid"] for one in about)


def test_jobs_can_be_listed_rescaled_and_told_of(site: Site) -> None:
    """What they want can be changed, not what the operator made of it; an Event shows in their description."""
    place = f"/apis/{FLINK}/v1beta1/namespaces/{site.namespace}/flinkdeployments"
    orders = {"apiVersion": f"{FLINK}/v1beta1", "kind": "FlinkDeployment", "metadata": {"name": "orders"}}
    spec = {"flinkVersion": "v1_20", "job": {"jarURI": "local:///job.jar"}, "flinkConfiguration": {}}
    uid = site.ask("POST", place, body={**orders, "spec": spec})["metadata"]["uid"]
    patch = {"spec": {"flinkConfiguration": {"pipeline.jobvertex-parallelism-overrides": "a:2"}}}
    with site.account() as account:
        assert account.run(methodcaller("call", "GET", place))["items"]
        assert account.run(lambda api: api.call("PATCH", f"{place}/orders", body=patch))["spec"]["job"] == spec["job"]
    options = KubernetesEventOptions(namespace=site.namespace, kubeconfig=str(site.kubeconfig))
    with closing(KubernetesEventHandler(options)) as handler:
        handler.handle(event(subject=JobKey(f"k8s:{site.namespace}.orders", "orders")))
    made = site.ask("GET", f"/apis/events.k8s.io/v1/namespaces/{site.namespace}/events")["items"]
    assert uid in [one["regarding"].get("uid") for one in made]


def test_what_is_forbidden_is_refused(site: Site) -> None:
    """The same by real calls."""
    place = f"/api/v1/namespaces/{site.namespace}"
    flink = f"/apis/{FLINK}/v1beta1/namespaces/{site.namespace}/flinkdeployments"
    calls = [
        ("GET", f"{place}/secrets"),
        ("DELETE", f"{place}/pods/a"),
        ("GET", "/api/v1/nodes"),
        ("PATCH", f"{flink}/orders/status"),
        ("DELETE", f"{flink}/orders"),
        ("GET", "/apis/apps/v1/namespaces/default/statefulsets"),
    ]
    with site.account() as account:
        for method, path in calls:
            with pytest.raises(Answered) as raised:
                account.run(methodcaller("call", method, path))
            assert raised.value.status == HTTPStatus.FORBIDDEN


def test_the_pod_is_let_in_where_pods_are_restricted(site: Site) -> None:
    """It is made, though its volume waits for a storage class and its container for a secret."""
    deadline = time.monotonic() + PATIENCE_S
    with site.kubernetes.api() as api:
        while not (pods := client.CoreV1Api(api).list_namespaced_pod(site.namespace).items):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert [pod.metadata.name for pod in pods] == ["headgate-0"]


def test_the_namespace_is_left_to_kustomize() -> None:
    """It fills in none where one is written: rights would go to an account of another namespace."""
    for file in FOLDER.glob("*/*.yaml"):
        assert "\n  namespace:" not in file.read_text()
        assert "\n    namespace:" not in file.read_text()


def test_its_options_hold(tmp_path: Path) -> None:
    """The file in the ConfigMap is one that Headgate starts with, without a complaint."""
    (config,) = [one for one in manifests(FOLDER / "base", NAME) if one["kind"] == "ConfigMap"]
    file = tmp_path / "headgate.yaml"
    file.write_text(config["data"]["headgate.yaml"])
    loaded = load(file, {}, {})
    assert loaded.options.lease.kubernetes.enabled
    assert loaded.warnings == ()
