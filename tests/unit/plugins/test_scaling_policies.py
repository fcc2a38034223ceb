"""Scaling policies of others: in a process of their own, with parameters, and without harm when they fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from headgate.control.reactive.asking import HostedPolicies
from headgate.errors import PluginError
from headgate.model.identity import VertexId
from headgate.plugins.catalog import Tables
from headgate.plugins.host import PluginHost
from headgate.ports import AvailableResources
from headgate.testing.builders import chain, context
from headgate.testing.reacting import reactive

Hosting = Callable[..., PluginHost]
CODE = """
import os
import signal

class Odd:
    def __init__(self, parameters):
        self.mood = parameters.get("mood", "half")

    def decide(self, ctx, resources, topology, configured):
        if self.mood == "angry":
            raise OSError("the service is away")
        if self.mood == "slow":
            signal.pause()
        if self.mood == "silly":
            return {vertex: 0 for vertex in topology.by_id}
        if self.mood == "pid":
            return {vertex: os.getpid() for vertex in topology.by_id}
        return {**{vertex: resources.slots // 2 for vertex in configured}, "nobody": 7}
"""
TOPOLOGY = chain({"source": 1, "agg": 2})
RESOURCES = AvailableResources(slots=8, total=10, workers=5)


@pytest.fixture
def policies(installed: Callable[..., None], hosting: Hosting) -> HostedPolicies:
    """Give all the time that they need to a policy's instances, of which there is one for each mood."""
    return installed_policies(installed, hosting, deadline="30 s")


def installed_policies(installed: Callable[..., None], hosting: Hosting, *, deadline: str) -> HostedPolicies:
    """Install a policy of somebody else's."""
    installed("strangers", {"headgate.scaling_policies": {"odd": "Odd"}}, CODE)
    moods = {f"{mood}.mood": mood for mood in ("angry", "slow", "silly", "pid")}
    classes = {f"{mood}.class": "odd" for mood in ("angry", "slow", "silly", "pid")}
    return HostedPolicies(host=hosting(Tables(general={**moods, **classes}), deadline=deadline))


async def ask(policies: HostedPolicies, policy: str) -> Mapping[VertexId, int]:
    """Ask for a plain job with eight slots."""
    return await policies.ask(context(options=reactive(policy=policy)), RESOURCES, TOPOLOGY, TOPOLOGY.parallelism)


async def test_it_decides_with_what_there_is(policies: HostedPolicies) -> None:
    """Vertices that the job does not have are left out; a built-in one goes by its registered name."""
    assert await ask(policies, "odd") == {"source": 4, "agg": 4}
    assert await ask(policies, "uniform") == {"source": 8, "agg": 8}


async def test_it_runs_in_a_process_of_its_own(policies: HostedPolicies) -> None:
    """It may hang or die there."""
    answer = await ask(policies, "pid")
    assert set(answer.values()) == set(policies.host.workers("strangers"))


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("angry", "plugin angry of strangers raised OSError: the service is away"),
        ("silly", "plugin silly of strangers gave what makes no sense: vertex source would have 0 subtasks"),
        ("unheard-of", "no scaling policy 'unheard-of' is registered or declared"),
    ],
)
async def test_one_that_fails_is_named(policies: HostedPolicies, policy: str, why: str) -> None:
    """Its job stays as it is, and people know whom to ask."""
    with pytest.raises(PluginError, match=why):
        await ask(policies, policy)


async def test_one_that_is_too_slow_is_named(installed: Callable[..., None], hosting: Hosting) -> None:
    """As one that fails."""
    policies = installed_policies(installed, hosting, deadline="200 ms")
    with pytest.raises(PluginError, match=r"plugin slow of strangers gave no answer within 0\.2 s"):
        await ask(policies, "slow")
