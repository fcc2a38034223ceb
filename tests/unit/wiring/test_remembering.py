"""Where states and leases are kept, by the options."""

from __future__ import annotations

from contextlib import AsyncExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.model.state import JobState
from headgate.options.lease import KubernetesLeaseOptions, LeaseOptions
from headgate.options.service import ClusterOptions, LogOptions, Pipeline, ServiceOptions
from headgate.options.serving import MetricsOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.registry import Registry
from headgate.ports import StateStore
from headgate.stores.split import SplitStateStore
from headgate.stores.sql import SqlStateStore
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fakes import RecordingEvents
from headgate.wiring import service
from headgate.wiring.remembering import remember

POSTGRESQL = "postgresql://headgate@127.0.0.1:1/headgate"


def options(state_store: str, *, enabled: bool = True) -> ServiceOptions:
    """Make options whose leases are in Kubernetes, or are not."""
    return ServiceOptions(
        clusters=(ClusterOptions(name="local", url="http://127.0.0.1:1"),),
        state_store=state_store,
        lease=LeaseOptions(kubernetes=KubernetesLeaseOptions(enabled=enabled)),
    )


async def store_of(given: ServiceOptions) -> StateStore:
    """Give the store that the service would have."""
    host = PluginHost(lambda: Catalog(Registry(), Tables.of(given)), lambda: given.plugins)
    async with AsyncExitStack() as stack:
        stack.callback(host.close)
        return remember(given, host, RecordingEvents(), stack).store


async def test_leases_are_in_kubernetes_if_so_wanted() -> None:
    """Else with the states. Nothing is connected to yet."""
    assert isinstance(await store_of(options(POSTGRESQL)), SplitStateStore)
    assert isinstance(await store_of(options(POSTGRESQL, enabled=False)), SqlStateStore)


@pytest.mark.parametrize("state_store", ["memory", "sqlite:///headgate.db"])
async def test_leases_of_pods_need_states_that_pods_share(state_store: str) -> None:
    """Else whoever takes over would know nothing of what was begun, and nothing would refuse what comes late."""
    with pytest.raises(ConfigError, match=r"lease\.kubernetes: needs a database that several hosts share"):
        await store_of(options(state_store))


@pytest.mark.parametrize("prefix", ["", "A", "a-", "a.b", "a" * 41])
def test_a_prefix_that_kubernetes_would_refuse(prefix: str) -> None:
    """It is said when the options are read."""
    with pytest.raises(ValueError, match="prefix"):
        KubernetesLeaseOptions(prefix=prefix)


async def test_the_service_forgets_what_its_cluster_has_not_listed_for_the_time_of_the_option(tmp_path: Path) -> None:
    """As soon as it holds its leases and has looked."""
    url, now = f"sqlite:///{tmp_path}/headgate.db", datetime.now(UTC)
    recent, old = JobKey("lab", "recent"), JobKey("lab", "old")
    with closing(SqlStateStore(url)) as store:
        for job, days in {recent: 2, old: 4}.items():
            store.save(job, JobState(), 0)
            store.note_gone([job], now - timedelta(days=days))
        async with FakeFlink([]) as flink:
            given = ServiceOptions(
                clusters=(ClusterOptions(name="lab", url=flink.url),),
                pipeline=Pipeline.IN_PROCESS,
                state_store=url,
                state_retention=timedelta(days=3),
                log=LogOptions(path=str(tmp_path / "log")),
                metrics=MetricsOptions(enabled=False),
            )
            async with service(given) as runner:
                assert runner.forget
                await runner.observe(now)
                runner.forget(now)
                assert store.kept().keys() == {recent, old}, "whose they are is not known yet"
                await runner.decide(now)
                runner.forget(now)
        assert store.kept().keys() == {recent}
