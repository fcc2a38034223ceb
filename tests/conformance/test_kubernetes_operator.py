"""
The whole service, as `headgate run` wires it, with Flink's operator on a real API server.

The operator is a stand-in that does what the real one was seen to do, and Flink a fake that is rescaled by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.services.kubernetes import Kubernetes, Rule

from headgate.control.runner import Runner
from headgate.engines.kubernetes.resources import GROUP, Plural
from headgate.model.events import EventReason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.kubernetes import KubernetesOptions
from headgate.options.service import LogOptions, Mode, Pipeline, ServiceOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain
from headgate.testing.fake_operator import FakeOperator, flink_deployment, flink_session_job
from headgate.testing.fakes import RecordingEvents
from headgate.wiring import service

TICK_S, PATIENCE_S, MOST_TICKS = 10.0, 60.0, 30
JOBS = 2
RIGHTS: Sequence[Rule] = [
    {"apiGroups": [GROUP], "resources": [plural], "verbs": ["get", "list", "patch"]} for plural in Plural
]
"""All that the account of Headgate has, as the how-to says."""


class Site:
    """The service, the operator, and two Flink clusters on one Kubernetes."""

    def __init__(self, runner: Runner, operator: FakeOperator, flinks: Sequence[FakeFlink]) -> None:
        """Begin before the first tick."""
        self.operator = operator
        self._runner = runner
        self._flinks = flinks
        self._changes = 0

    async def tick(self) -> None:
        """Let time pass, observe and decide, and give the operator the time for what was asked of it."""
        for flink in self._flinks:
            flink.advance(TICK_S)
        now = datetime.fromtimestamp(self._flinks[0].now_ms / 1000, UTC)
        await self._runner.observe(now)
        self._changes += sum(decision.acts for decision in await self._runner.decide(now))
        async with asyncio.timeout(PATIENCE_S):
            while len(self.operator.rescales + self.operator.redeploys) < self._changes:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.02)


@asynccontextmanager
async def site(kubernetes: Kubernetes, folder: Path, events: RecordingEvents) -> AsyncIterator[Site]:
    """Run everything in a namespace of its own."""
    namespace = await asyncio.to_thread(kubernetes.create_namespace)
    account = await asyncio.to_thread(kubernetes.create_account, namespace, RIGHTS, folder / "account")
    async with AsyncExitStack() as stack:
        jobs = {name: chain(job_id=name[0] * 32, name=name, vertices=3, rate=1_500) for name in ("aorders", "bclicks")}
        flinks = {name: await stack.enter_async_context(FakeFlink([job])) for name, job in jobs.items()}
        operator = FakeOperator(kubeconfig=kubernetes.kubeconfig, namespace=namespace, flinks=flinks)
        await stack.enter_async_context(operator)
        await operator.create(Plural.DEPLOYMENT, flink_deployment("aorders", flinks["aorders"]))
        session = flink_deployment("bclicks", flinks["bclicks"])
        del session["spec"]["job"]
        await operator.create(Plural.DEPLOYMENT, session)
        await operator.create(Plural.SESSION_JOB, flink_session_job("bclicks", "bclicks"))
        options = ServiceOptions(
            clusters=(),
            kubernetes=(
                KubernetesOptions(
                    name="k8s", namespaces=(namespace,), kubeconfig=str(account), rest_url="http://127.0.0.1:{port}"
                ),
            ),
            mode=Mode.ACT,
            pipeline=Pipeline.IN_PROCESS,
            state_store=f"sqlite:///{folder / 'state.db'}",
            log=LogOptions(path=str(folder / "samples")),
            autoscaler=AutoscalerOptions(metrics_window=timedelta(minutes=1), stabilization_interval=timedelta()),
        )
        runner = await stack.enter_async_context(service(options, events=events))
        yield Site(runner, operator, list(flinks.values()))


async def test_jobs_are_listed_decided_and_rescaled_through_the_operator(
    flink_kubernetes: Kubernetes, tmp_path: Path
) -> None:
    """
    A FlinkDeployment and a FlinkSessionJob, each too small for its load, run at what was decided in the end.

    Each was asked for once, in its own resource, in place, with no more rights than the how-to names.
    """
    events = RecordingEvents()
    async with site(flink_kubernetes, tmp_path, events) as running:
        for _ in range(MOST_TICKS):
            await running.tick()
            reached = [event.subject for event in events.told if event.reason is EventReason.RESCALE_REACHED]
            if len(reached) == JOBS:
                break
        told = [f"{event.subject}: {event.message}" for event in events.told]
        assert sorted(map(str, reached)) == [
            f"k8s:{running.operator.namespace}.{name}/{name}" for name in ("aorders", "bclicks")
        ], told
        assert sorted(running.operator.rescales) == ["aorders", "bclicks"]
        assert running.operator.redeploys == []
