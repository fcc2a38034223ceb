"""A rescale after a decision plugin had its say: within every bound that holds without it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headgate.algorithm.decide import LoadChain, decide
from headgate.algorithm.review import amended, forbidden
from headgate.model.decision import ConfigChanges, Decision, Outcome
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings, JobSample, Signal
from headgate.model.state import JobState
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.signals import GateScope, SignalOptions, SignalUse
from headgate.testing.builders import at, chain, evaluated, sample

A, B = VertexId("a"), VertexId("b")
GRAPH = chain({"a": 2, "b": 4})
OPTIONS = AutoscalerOptions(alignment_mode="OFF", scale_down_interval=timedelta())


def wanted(graph: Topology = GRAPH, *, backlog: bool = False) -> Decision:
    """Give the decision to let `a` grow from 2 to 4."""
    return decide(sample(graph), evaluated(graph, {"a": 2.0}, backlog=backlog), OPTIONS, at(0))


def held_to(rescale: Decision, seen: JobSample, **options: Any) -> LoadChain:
    """Return the rules of the job."""
    assert rescale.evaluated is not None
    return LoadChain.of(seen, rescale.evaluated, replace(OPTIONS, **options), at(0))


def after(
    parallelism: dict[VertexId, int],
    *,
    graph: Topology = GRAPH,
    backlog: bool = False,
    config: ConfigChanges | None = None,
    **options: Any,
) -> Decision:
    """Give what becomes of it when a plugin wants this."""
    rescale = wanted(graph, backlog=backlog)
    rules = held_to(rescale, sample(graph), **options)
    return amended(rescale, parallelism, config or ConfigChanges(), rules, plugin="p")


def test_what_a_plugin_wants_is_what_is_done() -> None:
    """Also of a vertex that would not have changed; one that it leaves out stays."""
    decision = after({B: 6})
    assert decision.targets == {A: 2, B: 6}
    assert decision.proposals[0].steps[-1].detail == "plugin p wants no change"
    assert decision.message.endswith("; plugin p: a 4 -> 2, b 4 -> 6")


def test_another_change_is_another_decision() -> None:
    """Its id follows from its targets."""
    assert after({A: 4}).id == wanted().id
    assert after({A: 3}).id != wanted().id


@pytest.mark.parametrize(
    ("asked", "options", "got", "why"),
    [
        (99, {"max_parallelism": 20}, 20, Reason.MAX_PARALLELISM),
        (999, {"max_parallelism": 500}, 128, Reason.VERTEX_MAX_PARALLELISM),
        (-7, {"scale_down_max_factor": 5.0}, 1, Reason.MIN_PARALLELISM),
        (1, {"scale_down_max_factor": 0.5}, 2, Reason.SCALE_DOWN_FACTOR),
        (8, {"vertex_exclude_ids": ("b",)}, 4, Reason.EXCLUDED),
    ],
)
def test_a_plugin_is_held_to_the_bounds(asked: int, options: dict[str, Any], got: int, why: Reason) -> None:
    """Each leaves a step in the trail."""
    decision = after({A: 4, B: asked}, **options)
    assert decision.targets[B] == got
    assert decision.proposals[1].steps[-1].reason is why


def test_a_source_keeps_to_its_partitions() -> None:
    """Further subtasks would idle."""
    source, *rest = GRAPH.vertices
    graph = replace(GRAPH, vertices=(replace(source, partitions=5), *rest))
    assert after({A: 9}, graph=graph).targets[A] == 5


def test_nothing_shrinks_while_a_backlog_is_worked_off() -> None:
    """Whoever wants it."""
    assert after({A: 4, B: 2}, backlog=True).targets[B] == 4
    assert after({A: 4, B: 2}).targets[B] == 2


def test_vertices_that_are_not_there_are_left_out() -> None:
    """And named."""
    decision = after({A: 4, VertexId("z"): 9})
    assert decision.targets == {A: 4, B: 4}
    assert "no vertex z (left out)" in decision.message


def test_a_plugin_may_add_configuration() -> None:
    """It goes with the rescale, or alone, and is named."""
    config = ConfigChanges(overrides={"execution.checkpointing.interval": "1 min"})
    together = after({A: 4}, config=config)
    assert together.config == config
    assert "execution.checkpointing.interval=1 min" in together.message
    alone = after({}, config=config)
    assert (alone.outcome, alone.changes, alone.config) == (Outcome.RESCALE, {}, config)


def test_configuration_does_not_pass_a_gate_that_holds_any_change() -> None:
    """Whoever closed it meant every restart."""
    gate = SignalOptions(name="hours", source="there", use=SignalUse.GATE, condition=">= 1", gates=GateScope.ANY)
    closed = replace(sample(GRAPH), signals={"hours": Signal(value=0.0, measured_at=at(0))})
    rules = held_to(wanted(), closed, signals_in_force=(gate,))
    decision = amended(wanted(), {}, ConfigChanges(overrides={"a": "b"}), rules, plugin="p")
    assert (decision.outcome, decision.reason, decision.config) == (Outcome.KEEP, Reason.GATE, ConfigChanges())


def test_a_wish_to_shrink_that_waits_goes_on_waiting() -> None:
    """A plugin cannot grant it before its time."""
    waiting = replace(OPTIONS, scale_down_interval=timedelta(hours=1))
    decision = decide(sample(GRAPH), evaluated(GRAPH, {"a": 2.0, "b": 0.5}), waiting, at(0))
    rules = held_to(decision, sample(GRAPH), scale_down_interval=timedelta(hours=1))
    assert amended(decision, {A: 4, B: 2}, ConfigChanges(), rules, plugin="p").targets[B] == 4


def test_a_wish_of_a_plugin_waits_from_then_on() -> None:
    """It is remembered, and granted when it has lasted for as long as any other must."""
    rules = held_to(wanted(), sample(GRAPH), scale_down_interval=timedelta(hours=1))
    decision = rules.permitted(amended(wanted(), {A: 4, B: 2}, ConfigChanges(), rules, plugin="p"))
    assert decision.targets[B] == 4
    assert decision.delayed is not None
    assert [wish.parallelism for wish in decision.delayed[B].wishes] == [2]

    state, hour = JobState(delayed=decision.delayed), at(3600)
    later = decide(sample(GRAPH), evaluated(GRAPH, {"a": 2.0}), OPTIONS, hour, state)
    assert later.evaluated is not None
    options = replace(OPTIONS, scale_down_interval=timedelta(hours=1))
    aware = LoadChain.of(sample(GRAPH), later.evaluated, options, hour, state=state)
    assert amended(later, {A: 4, B: 2}, ConfigChanges(), aware, plugin="p").targets[B] == 2


def test_secrets_of_a_configuration_are_not_told() -> None:
    """By the keys that Flink masks itself; that they change is told."""
    config = ConfigChanges(overrides={"s3.Secret-Key": "hush-hush", "a": "b"})
    decision = after({A: 4}, config=config)
    assert "s3.Secret-Key=***" in decision.message
    assert "a=b" in decision.message
    assert "hush" not in decision.message


def test_what_leaves_nothing_to_change_keeps_the_job() -> None:
    """It is no veto: the bounds did it."""
    decision = after({B: 9}, vertex_exclude_ids=("b",))
    assert (decision.outcome, decision.reason) == (Outcome.KEEP, Reason.LIMITED)


def test_a_veto_is_noticed() -> None:
    """Under the reference's name."""
    decision = forbidden(wanted(), plugin="p")
    assert (decision.outcome, decision.reason) == (Outcome.KEEP, Reason.SCALING_VETOED)
    assert decision.notices[-1].reason is EventReason.SCALING_VETOED


def test_quotas_are_looked_at_again() -> None:
    """A plugin may not have the job exceed them."""
    graph = replace(GRAPH, vertices=tuple(replace(v, slot_sharing_group="g") for v in GRAPH.vertices))
    settings = EngineSettings(task_manager_cpus=1.0)
    rules = held_to(wanted(graph), sample(graph, settings=settings), quota_cpu=6.0)
    within, beyond = (amended(wanted(graph), {A: p}, ConfigChanges(), rules, plugin="p") for p in (6, 7))
    assert rules.permitted(within).outcome is Outcome.RESCALE
    assert rules.permitted(beyond).reason is Reason.RESOURCE_QUOTA
