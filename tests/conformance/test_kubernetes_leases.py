"""A state store whose leases are objects of a real Kubernetes keeps the contract, also among several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import pytest
from tests.services.kubernetes import Kubernetes

from headgate.errors import ConflictError, PermanentError
from headgate.kube.login import Login
from headgate.model.state import JobState, VersionedState
from headgate.stores.kubernetes_leases import KubernetesLeases
from headgate.stores.lease_objects import LeaseObjects
from headgate.stores.split import SplitStateStore
from headgate.stores.sql import SqlStateStore
from headgate.testing.conformance.state_store import ANNA, BERT, JOB, MINUTE, NOON, SHARD, StateStoreSuite, taken

Process = Callable[[], SplitStateStore]
"""Gives the store of one more process."""


@pytest.fixture
def process(kubernetes: Kubernetes, tmp_path: Path) -> Iterator[Process]:
    """Give what starts a process: one that has seen nothing yet, with the states and leases of the others."""
    namespace, login = kubernetes.create_namespace(), Login(kubeconfig=str(kubernetes.kubeconfig))
    with ExitStack() as stack:

        def start() -> SplitStateStore:
            states = stack.enter_context(closing(SqlStateStore(f"sqlite:///{tmp_path}/headgate.db")))
            objects = LeaseObjects(login, namespace=namespace, prefix="headgate")
            leases = stack.enter_context(closing(KubernetesLeases(objects, states)))
            return SplitStateStore(states, leases)

        yield start


class TestSplitStateStore(StateStoreSuite):
    """States in an SQLite file, leases in Kubernetes."""

    @pytest.fixture
    def store(self, process: Process) -> SplitStateStore:
        """Give an empty store."""
        return process()
