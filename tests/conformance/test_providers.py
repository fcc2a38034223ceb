"""The resource providers that come with Headgate keep the contract; Kubernetes' on a real control plane."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.services.kubernetes import Kubernetes, Rule

from headgate.errors import NotFoundError, PermanentError, RefusedError, TransientError
from headgate.ports import ResourceProvider, Workers
from headgate.providers.command import CommandProvider
from headgate.providers.folder import Worker, WorkerFolder, end_workers
from headgate.providers.kubernetes import KubernetesProvider
from headgate.providers.local import FOLDER, LocalProcessesProvider
from headgate.providers.spark_standalone import SparkStandaloneProvider
from headgate.testing.conformance.resource_provider import PATIENCE_S, ResourceProviderSuite, settled
from headgate.testing.fake_java import make_flink, make_java, make_spark

_PROGRAM = """\
import sys
from pathlib import Path
file, *asked = sys.argv[1:]
if asked: Path(file).write_text(asked[0])
else: print(Path(file).read_text())
"""
_ALL: Rule = {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["get", "patch"]}
_PODS: Rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}


async def lose_first_worker(directory: Path) -> None:
    """Kill the first worker of a provider's directory, and wait until it is gone."""
    folder = WorkerFolder(directory / FOLDER)
    with folder.locked():
        first = folder.living()[0]
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    await asyncio.to_thread(_until_gone, folder, first)


@dataclass(frozen=True, slots=True)
class LocalStage:
    """Processes that do nothing, in a directory of their own."""

    directory: Path
    provider: LocalProcessesProvider

    @staticmethod
    def parameters(directory: Path) -> Mapping[str, str]:
        """Name what `set_up` makes in a directory."""
        parts = {"directory": "cluster", "java": "java", "home": "flink"}
        return {name: str(directory / part) for name, part in parts.items()}

    def restarted(self) -> LocalProcessesProvider:
        """Give another one."""
        return LocalProcessesProvider(self.parameters(self.directory))

    async def lose_worker(self) -> None:
        """Kill the first one."""
        await lose_first_worker(self.directory / "cluster")


def _until_gone(folder: WorkerFolder, lost: Worker) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with folder.locked():
            if lost not in folder.living():
                return
        assert time.monotonic() < deadline
        time.sleep(0.01)


def set_up(directory: Path) -> None:
    """Make a Flink, a Java and a configuration."""
    make_java(directory / "java")
    make_flink(directory / "flink")
    (directory / "cluster" / "conf").mkdir(parents=True)


class TestLocalProcessesProvider(ResourceProviderSuite):
    """Real processes, that are no TaskManagers."""

    @pytest.fixture
    def stage(self, tmp_path: Path) -> Iterator[LocalStage]:
        """Give one over an empty cluster."""
        set_up(tmp_path)
        yield LocalStage(tmp_path, LocalProcessesProvider(LocalStage.parameters(tmp_path)))
        end_workers(tmp_path / "cluster" / FOLDER)

    @pytest.fixture
    def broken(self, tmp_path: Path) -> LocalProcessesProvider:
        """There is no such directory."""
        return LocalProcessesProvider({"directory": str(tmp_path / "gone" / "cluster")})


@dataclass(frozen=True, slots=True)
class SparkStage:
    """Workers that do nothing, and need not be waited for when they are to end."""

    directory: Path
    provider: SparkStandaloneProvider

    @staticmethod
    def opened(directory: Path) -> SparkStandaloneProvider:
        """Give a provider for what `make_spark` has made."""
        parts = {"directory": str(directory / "workers"), "home": str(directory / "spark")}
        return SparkStandaloneProvider({**parts, "master": "spark://127.0.0.1:7077", "patience": "100 ms"})

    def restarted(self) -> SparkStandaloneProvider:
        """Give another one."""
        return self.opened(self.directory)

    async def lose_worker(self) -> None:
        """Kill the first one."""
        await lose_first_worker(self.directory / "workers")


class TestSparkStandaloneProvider(ResourceProviderSuite):
    """Real processes, that are no Workers."""

    @pytest.fixture
    def stage(self, tmp_path: Path) -> Iterator[SparkStage]:
        """Give one over an empty directory."""
        make_spark(tmp_path / "spark")
        (tmp_path / "workers").mkdir()
        yield SparkStage(tmp_path, SparkStage.opened(tmp_path))
        end_workers(tmp_path / "workers" / FOLDER)

    @pytest.fixture
    def broken(self, tmp_path: Path) -> SparkStandaloneProvider:
        """There is no such directory."""
        return SparkStage.opened(tmp_path / "gone")


@dataclass(frozen=True, slots=True)
class CommandStage:
    """A program that keeps the number of workers in a file."""

    file: Path
    provider: CommandProvider

    @staticmethod
    def opened(file: Path) -> CommandProvider:
        """Give a provider for the file."""
        program = f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(_PROGRAM)} {shlex.quote(str(file))}"
        return CommandProvider({"count": program, "request": f"{program} {{count}}"})

    def restarted(self) -> CommandProvider:
        """Give another one."""
        return self.opened(self.file)

    async def lose_worker(self) -> None:
        """Count one less."""
        self.file.write_text(str(int(self.file.read_text()) - 1))


class TestCommandProvider(ResourceProviderSuite):
    """Real commands."""

    @pytest.fixture
    def stage(self, tmp_path: Path) -> CommandStage:
        """Give one over no workers."""
        (tmp_path / "count").write_text("0")
        return CommandStage(tmp_path / "count", CommandStage.opened(tmp_path / "count"))

    @pytest.fixture
    def broken(self, tmp_path: Path) -> CommandProvider:
        """The program does not find what it needs."""
        return CommandStage.opened(tmp_path / "gone" / "count")


@dataclass(frozen=True, slots=True)
class KubernetesStage:
    """A Deployment or StatefulSet."""

    kubernetes: Kubernetes
    parameters: Mapping[str, str]
    provider: KubernetesProvider

    @classmethod
    def of(cls, kubernetes: Kubernetes, kind: str, *, cpu: str = "1") -> KubernetesStage:
        """Create one in a namespace of its own."""
        namespace = kubernetes.create_namespace()
        name = kubernetes.create_workers(kind, namespace, cpu=cpu)
        parameters = {"kind": kind, "name": name, "namespace": namespace, "kubeconfig": str(kubernetes.kubeconfig)}
        return cls(kubernetes, parameters, KubernetesProvider(parameters))

    def restarted(self, **other: str) -> KubernetesProvider:
        """Give another provider, with some other parameters if need be."""
        return KubernetesProvider({**self.parameters, **other})

    async def lose_worker(self) -> None:
        """Delete the first pod."""
        lost = (await self.provider.workers()).names[0]
        await asyncio.to_thread(self.kubernetes.delete_pod, self.parameters["namespace"], lost)


class KubernetesSuite(ResourceProviderSuite):
    """What holds for everything that Kubernetes scales."""

    KIND = "Deployment"

    @pytest.fixture
    async def stage(self, kubernetes: Kubernetes) -> Any:
        """Give one without replicas."""
        stage = KubernetesStage.of(kubernetes, self.KIND)
        yield stage
        await stage.provider.request(0)
        await stage.provider.close()

    @pytest.fixture
    def broken(self, kubernetes: Kubernetes, tmp_path: Path) -> KubernetesProvider:
        """Nobody listens at that address."""
        known = yaml.safe_load(kubernetes.kubeconfig.read_text())
        known["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(known))
        return KubernetesProvider({"name": "workers", "kubeconfig": str(tmp_path / "kubeconfig")})


class TestKubernetesProvider(KubernetesSuite):
    """A Deployment on a real control plane."""

    async def test_its_account_needs_three_rights(self, stage: KubernetesStage, tmp_path: Path) -> None:
        """Those that its documentation tells, and no more."""
        able = self._as_account(stage, [_ALL, _PODS], tmp_path)
        assert await able.request(2) is True
        assert len((await settled(able, 2)).names) == 2
        await able.close()

    @pytest.mark.parametrize(
        ("rules", "hint"),
        [
            ([{**_ALL, "verbs": ["get"]}, _PODS], "the verb patch on deployments/scale of group apps"),
            ([{**_ALL, "verbs": ["patch"]}, _PODS], "the verb get on deployments/scale of group apps"),
            ([_ALL], "the verb list on pods"),
        ],
    )
    async def test_a_missing_right_is_named(
        self, stage: KubernetesStage, tmp_path: Path, rules: list[Rule], hint: str
    ) -> None:
        """Waiting does not help: whoever runs the cluster must grant it."""
        unable = self._as_account(stage, rules, tmp_path)
        with pytest.raises(RefusedError, match=hint):
            await _use(unable)
        await unable.close()

    async def test_a_wrong_token_is_told_and_a_right_one_used_later(
        self, stage: KubernetesStage, kubernetes: Kubernetes, tmp_path: Path
    ) -> None:
        """It is read anew, so that nothing need be restarted."""
        right, file = kubernetes.kubeconfig.read_text(), tmp_path / "kubeconfig"
        file.write_text(yaml.safe_dump({**yaml.safe_load(right), "users": [{"name": "test", "user": {"token": "x"}}]}))
        provider = stage.restarted(kubeconfig=str(file))
        with pytest.raises(RefusedError, match="the token or certificate does not hold"):
            await provider.workers()
        file.write_text(right)
        assert await provider.workers() == await stage.provider.workers()
        await provider.close()

    @pytest.mark.parametrize(
        ("other", "error"),
        [
            ({"name": "gone"}, NotFoundError),
            ({"namespace": "gone"}, NotFoundError),
            ({"kind": "", "group": "example.org", "version": "v1", "plural": "things"}, NotFoundError),
            ({"context": "gone"}, RefusedError),
            ({"kubeconfig": "/gone/kubeconfig"}, RefusedError),
        ],
    )
    async def test_what_is_not_there_is_told(
        self, stage: KubernetesStage, other: Mapping[str, str], error: type[PermanentError]
    ) -> None:
        """Whether it is counted or asked for."""
        provider = stage.restarted(**other)
        with pytest.raises(error):
            await provider.workers()
        with pytest.raises(error):
            await provider.request(1)
        await provider.close()

    async def test_what_does_not_fit_is_not_ready(self, kubernetes: Kubernetes) -> None:
        """Kubernetes takes the wish and has no room: what is there is fewer than what is wanted."""
        stage = KubernetesStage.of(kubernetes, "Deployment", cpu="20")
        await stage.provider.request(3)
        assert (await settled(stage.provider, 1, asking=3)).wanted == 3
        assert await stage.provider.request(3) is False
        await settled(stage.provider, 0)
        await stage.provider.close()

    @staticmethod
    def _as_account(stage: KubernetesStage, rules: list[Rule], folder: Path) -> KubernetesProvider:
        kubeconfig = stage.kubernetes.create_account(stage.parameters["namespace"], rules, folder / "account")
        return stage.restarted(kubeconfig=str(kubeconfig))


class TestStatefulSet(KubernetesSuite):
    """Its pods come and go one after the other."""

    KIND = "StatefulSet"


async def _use(provider: ResourceProvider) -> None:
    await provider.workers()
    await provider.request((await provider.workers()).wanted + 1)


class Insistent(LocalProcessesProvider):
    """Claims to have asked each time."""

    async def request(self, count: int, /) -> bool:
        """Say yes."""
        await super().request(count)
        return True


class Tidy(LocalProcessesProvider):
    """Ends the workers with itself."""

    async def close(self) -> None:
        """Leave nothing behind."""
        await self.request(0)


class Hopeful(LocalProcessesProvider):
    """Takes a system that is not there for one without workers."""

    async def workers(self) -> Workers:
        """Count none where nobody knows."""
        with suppress(TransientError):
            return await super().workers()
        return Workers(wanted=0, ready=0)


@pytest.mark.parametrize(
    ("faulty", "test"),
    [
        (Insistent, ResourceProviderSuite.test_asking_again_is_no_news),
        (Tidy, ResourceProviderSuite.test_closing_leaves_the_workers),
    ],
)
async def test_faulty_providers_are_noticed(faulty: Any, test: Any, tmp_path: Path) -> None:
    """A healthy one passes the same test."""
    set_up(tmp_path)
    stage = LocalStage(tmp_path, faulty(LocalStage.parameters(tmp_path)))
    try:
        with pytest.raises(AssertionError):
            await test(ResourceProviderSuite(), stage)
    finally:
        end_workers(tmp_path / "cluster" / FOLDER)


async def test_a_provider_that_hides_failures_is_noticed(tmp_path: Path) -> None:
    """It would have workers started that are there already."""
    with pytest.raises(pytest.fail.Exception):
        await ResourceProviderSuite().test_a_system_that_is_not_there_is_a_fault_that_passes(
            Hopeful({"directory": str(tmp_path / "gone" / "cluster")})
        )
