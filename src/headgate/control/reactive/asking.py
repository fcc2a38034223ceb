"""Asking a job's scaling policy: a built-in one on the spot, somebody else's in a thread, no longer than the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from headgate.errors import PluginError
from headgate.model.identity import VertexId
from headgate.model.topology import Topology
from headgate.plugins.errands import Errands
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.ready import Plugin
from headgate.plugins.registry import OURS
from headgate.plugins.scaling import BUILT_IN
from headgate.plugins.soundness import sound_parallelism
from headgate.ports import AvailableResources, JobContext, ScalingPolicy

Parallelism = Mapping[VertexId, int]


class Policies(Protocol):
    """Asks the policy that a job's options name."""

    async def ask(
        self, ctx: JobContext, resources: AvailableResources, topology: Topology, configured: Parallelism
    ) -> Parallelism:
        """
        Give what the policy makes of the resources.

        Raises:
            PluginError: it failed, took too long, or gave what makes no sense.
        """


class BuiltInPolicies:
    """Knows Headgate's own alone, by their registered names."""

    async def ask(
        self, ctx: JobContext, resources: AvailableResources, topology: Topology, configured: Parallelism
    ) -> Parallelism:
        """Ask it on the spot."""
        name = ctx.options.reactive.policy
        if name not in BUILT_IN:
            raise PluginError(name, OURS, f"is none of {', '.join(sorted(BUILT_IN))}")
        policy: ScalingPolicy = BUILT_IN[name]
        return policy.decide(ctx, resources, topology, configured)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedPolicies:
    """Knows every policy of the host."""

    host: PluginHost
    _errands: Errands = field(default_factory=Errands, init=False)

    async def ask(
        self, ctx: JobContext, resources: AvailableResources, topology: Topology, configured: Parallelism
    ) -> Parallelism:
        """Ask it where it runs; at most one question of a job is open at a time."""
        name = ctx.options.reactive.policy

        def call() -> Parallelism:
            plugin = self.host.ready(Kind.SCALING_POLICY, name)
            return _sound(plugin, _answer(plugin, ctx, resources, topology, configured), topology)

        if self.host.stands_for(Kind.SCALING_POLICY, name):
            return call()
        under_way = self._errands.begin(self.host.pool, ctx.key, call)
        if under_way is None:
            raise self.host.overdue([(Kind.SCALING_POLICY, name)])
        waiting: asyncio.Future[Parallelism] = asyncio.wrap_future(under_way)
        await asyncio.wait([waiting], timeout=self.host.budget.total_seconds())
        if waiting.cancel():
            raise self.host.overdue([(Kind.SCALING_POLICY, name)])
        return waiting.result()


def _answer(plugin: Plugin, *question: Any) -> Parallelism:
    try:
        answer: Parallelism = plugin.port.decide(*question)
    except Exception as error:
        raise plugin.failure(error) from error
    return answer


def _sound(plugin: Plugin, answer: Parallelism, topology: Topology) -> Parallelism:
    try:
        return sound_parallelism(answer, topology)
    except ValueError as error:
        raise plugin.nonsense(error) from error
