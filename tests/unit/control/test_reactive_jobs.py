"""Jobs that follow the slots of their cluster, look by look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from headgate.algorithm.review import Chain
from headgate.algorithm.suitability import Facts
from headgate.control.deciding import PlainDecider
from headgate.control.reactive.fitness import Fitness
from headgate.errors import PluginError, UnreachableError
from headgate.model.decision import Decision, Outcome
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.rollback import ParallelismBound, Side
from headgate.model.state import JobState
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import Demand
from headgate.ports import AvailableResources, JobContext
from headgate.testing.builders import at, chain
from headgate.testing.reacting import ReactiveStage, reactive


async def test_a_job_uses_all_slots_once_they_have_been_there_for_a_while() -> None:
    """Not at first sight: they may go again; what the user has set is no matter."""
    stage = ReactiveStage(slots=6)
    stage.add("orders", reactive(), chain({"source": 2, "agg": 1}))

    first = (await stage.tick(0))["orders"]
    second = (await stage.tick(10))["orders"]

    assert first.reason is Reason.SLOTS_UNSETTLED
    assert second.outcome is Outcome.RESCALE
    assert stage.parallelism("orders") == {"source": 6, "agg": 6}
    assert (await stage.tick(20))["orders"].reason is Reason.BALANCED


async def test_more_slots_are_used_when_they_stay() -> None:
    """A worker that comes and goes again moves nothing."""
    stage = ReactiveStage(slots=4)
    stage.add("orders", reactive(resource_stabilization=timedelta(seconds=30)))
    await stage.tick(0)
    await stage.tick(30)
    stage.slots = 6
    await stage.tick(40)
    stage.slots = 4
    await stage.tick(60)
    assert (await stage.tick(80))["orders"].reason is Reason.BALANCED

    stage.slots = 6
    assert (await stage.tick(90))["orders"].outcome is Outcome.KEEP
    assert (await stage.tick(120))["orders"].outcome is Outcome.RESCALE
    assert stage.parallelism("orders")["agg"] == 6


async def test_a_lost_worker_has_its_time_to_come_back() -> None:
    """Nothing is asked for meanwhile, and nothing when it is back: the engine has brought the job through."""
    stage = ReactiveStage(slots=6)
    stage.add("orders", reactive())
    await stage.tick(0)
    await stage.tick(10)

    stage.lose(2)
    lost = (await stage.tick(15))["orders"]
    stage.slots = 6
    back = (await stage.tick(20))["orders"]

    assert lost.reason is Reason.SLOTS_UNSETTLED
    assert "2 of its 6 slots are lost" in lost.message
    assert back.changes == {VertexId("source"): back.proposals[0], VertexId("agg"): back.proposals[1]}
    assert stage.parallelism("orders") == {"source": 6, "agg": 6}


async def test_without_its_worker_a_job_goes_on_with_what_is_left() -> None:
    """It runs so already, and no growth is wanted that the slots do not allow."""
    stage = ReactiveStage(slots=6)
    stage.add("orders", reactive())
    await stage.tick(0)
    await stage.tick(10)
    stage.lose(2)
    await stage.tick(20)

    settled = (await stage.tick(30))["orders"]

    assert settled.reason is Reason.BALANCED
    assert stage.parallelism("orders") == {"source": 4, "agg": 4}


async def test_a_growth_by_the_engine_itself_is_not_fought() -> None:
    """It takes a worker back by its own timing, which may be shorter than that of the job's options."""
    stage = ReactiveStage(slots=6)
    stage.add("orders", reactive())
    for second in (0, 10):
        await stage.tick(second)
    stage.lose(2)
    for second in (20, 30):
        await stage.tick(second)

    stage.slots = 6
    stage.add("orders", reactive(), chain({"source": 6, "agg": 6}))

    assert (await stage.tick(31))["orders"].reason is Reason.BALANCED
    assert stage.parallelism("orders")["agg"] == 6


async def test_jobs_share_the_slots_by_weight_and_leave_others_theirs() -> None:
    """Of ten slots a job that is not reactive has two, and the heavy one gets three of four."""
    stage = ReactiveStage(slots=10)
    stage.add("fixed", AutoscalerOptions(), chain({"source": 2}))
    stage.add("heavy", reactive(weight=3.0))
    stage.add("light", reactive(weight=1.0))
    for second in (0, 10):
        await stage.tick(second)

    assert stage.parallelism("heavy") == {"source": 6, "agg": 6}
    assert stage.parallelism("light") == {"source": 2, "agg": 2}
    assert stage.parallelism("fixed") == {"source": 2}


async def test_a_job_that_lacks_its_least_is_left_waiting_with_one_event() -> None:
    """What there is of its share is nobody else's."""
    stage = ReactiveStage(slots=5)
    stage.add("first", reactive(min_parallelism=3, weight=2.0))
    stage.add("second", reactive(min_parallelism=4))
    for second in (0, 10, 20):
        decisions = await stage.tick(second)

    assert stage.parallelism("first") == {"source": 3, "agg": 3}
    assert decisions["second"].reason is Reason.SLOTS_SHORT
    assert stage.parallelism("second") == {"source": 1, "agg": 1}
    assert stage.events.reasons == [EventReason.SLOTS_SHORT]
    assert "2 of the 4 slots" in stage.events.told[0].message


async def test_a_growth_that_is_too_small_is_left() -> None:
    """Two subtasks more, summed over the vertices, are fewer than three."""
    stage = ReactiveStage(slots=4)
    stage.add("orders", reactive(min_parallelism_increase=3), chain({"source": 3, "agg": 3}))
    await stage.tick(0)

    assert (await stage.tick(10))["orders"].reason is Reason.INCREASE_TOO_SMALL
    stage.slots = 5
    await stage.tick(20)
    assert (await stage.tick(30))["orders"].outcome is Outcome.RESCALE


async def test_growth_waits_for_a_fresh_checkpoint() -> None:
    """Of a job with much state as little as possible is done twice; shrinking waits for none."""
    stage = ReactiveStage(slots=4)
    stage.add("orders", reactive(checkpoint_age=timedelta(seconds=5)))
    await stage.tick(0)

    assert (await stage.tick(10))["orders"].reason is Reason.CHECKPOINT_AWAITED
    stage.checkpointed_at = at(8)
    assert (await stage.tick(20))["orders"].reason is Reason.CHECKPOINT_AWAITED
    stage.checkpointed_at = at(28)
    assert (await stage.tick(30))["orders"].outcome is Outcome.RESCALE


async def test_a_demand_that_follows_the_need() -> None:
    """The load asks for four of twelve slots; without numbers it stays where it is."""
    stage = ReactiveStage(slots=12, factors={"agg": 4.0})
    stage.add("orders", reactive(demand=Demand.NEED))
    stage.add("unknown", reactive(demand=Demand.NEED))
    stage.unknown.add("unknown")
    for second in (0, 10):
        await stage.tick(second)

    assert stage.parallelism("orders") == {"source": 1, "agg": 4}
    assert stage.parallelism("unknown") == {"source": 1, "agg": 1}


async def test_nothing_exceeds_what_a_vertex_can_have() -> None:
    """Key groups and what somebody has set by hand; the default of 200 is nobody's wish."""
    stage = ReactiveStage(slots=400)
    stage.add("wide", reactive(), chain({"source": 1, "agg": 1}, max_parallelism=300))
    stage.add("bound", replace(reactive(), max_parallelism=7))
    for second in (0, 10):
        await stage.tick(second)

    assert stage.parallelism("wide") == {"source": 300, "agg": 300}
    assert stage.parallelism("bound") == {"source": 7, "agg": 7}


async def test_a_parallelism_that_made_the_job_sick_is_not_crossed() -> None:
    """Also in reactive mode, until the bound expires."""
    stage = ReactiveStage(slots=8)
    stage.add("orders", reactive())
    bound = ParallelismBound(
        vertex=VertexId("agg"), parallelism=5, side=Side.BELOW, expires_at=at(100), why="too few buffers"
    )
    stage.states["orders"] = JobState(bounds=(bound,))
    for second in (0, 10):
        await stage.tick(second)

    assert stage.parallelism("orders") == {"source": 8, "agg": 4}


async def test_after_a_restart_nothing_is_done_before_the_slots_were_seen_to_stay() -> None:
    """The timers begin anew: neither a growth nor a loss is believed at first sight."""
    stage = ReactiveStage(slots=6)
    stage.add("orders", reactive())
    for second in (0, 10):
        await stage.tick(second)
    stage.slots = 8
    stage.restart_headgate()

    assert (await stage.tick(20))["orders"].reason is Reason.SLOTS_UNSETTLED
    assert (await stage.tick(30))["orders"].outcome is Outcome.RESCALE


async def test_the_engine_own_reactive_mode_takes_no_orders() -> None:
    """It is said so, with what the load needs."""
    stage = ReactiveStage(slots=4, engine_reactive=True, factors={"agg": 2.0, "source": 1.0})
    stage.add("orders", reactive(), chain({"source": 4, "agg": 4}))

    decision = (await stage.tick(0))["orders"]

    assert (decision.outcome, decision.reason) == (Outcome.KEEP, Reason.ENGINE_REACTIVE)
    assert "its load needs 8" in decision.message


async def test_an_unfit_job_is_left_alone_for_all_reasons_at_once() -> None:
    """One event names them."""
    stage = ReactiveStage(slots=8)
    stage.add("orders", reactive(min_parallelism=6), chain({"source": 1, "agg": 1}, max_parallelism=4))
    decision = (await stage.tick(0))["orders"]

    assert decision.reason is Reason.REACTIVE_UNSUITABLE
    assert EventReason.REACTIVE_UNSUITABLE in stage.events.reasons
    assert "source can have 4 at most" in decision.message


async def test_an_excluded_time_holds_for_reactive_jobs() -> None:
    """What would be done is told, and the cycle does not do it."""
    stage = ReactiveStage(slots=8)
    stage.add("orders", replace(reactive(), excluded_periods=("* * * * * ?",), excluded_periods_time_zone="UTC"))
    await stage.tick(0)
    assert (await stage.tick(10))["orders"].reason is Reason.EXCLUDED_PERIOD


class Failing:
    """A policy whose service is away."""

    async def ask(
        self, ctx: JobContext, _resources: AvailableResources, _topology: Topology, _configured: Mapping[VertexId, int]
    ) -> Mapping[VertexId, int]:
        """Fail."""
        raise PluginError(ctx.options.reactive.policy, "somebody", "raised OSError: away")


async def test_a_policy_that_fails_moves_nothing() -> None:
    """The job stays as it is, and a notice names the plugin."""
    stage = ReactiveStage(slots=8, policies=Failing())
    stage.add("orders", reactive(policy="mine"))
    await stage.tick(0)
    decision = (await stage.tick(10))["orders"]

    assert (decision.outcome, decision.reason) == (Outcome.KEEP, Reason.PLUGIN_FAILED)
    assert [notice.reason for notice in decision.notices] == [EventReason.PLUGIN_FAILED]
    assert stage.parallelism("orders") == {"source": 1, "agg": 1}


async def test_policies_by_name() -> None:
    """In proportion to what was submitted, and up to a target."""
    stage = ReactiveStage(slots=12)
    stage.add("ratio", reactive(policy="proportional", max_parallelism=8), chain({"source": 2, "agg": 4}))
    stage.add("target", reactive(policy="bounds", target_parallelism=3))
    for second in (0, 10, 20):
        await stage.tick(second)

    assert stage.parallelism("target") == {"source": 3, "agg": 3}
    assert stage.parallelism("ratio")["agg"] == 2 * stage.parallelism("ratio")["source"] > 4


class Vetoing(PlainDecider):
    """Decides without plugins, and has one that lets nothing grow beyond three."""

    async def review(self, _ctx: JobContext, decision: Decision, _chain: Chain) -> Decision:
        """Cut."""
        cut = [each.limited_to(min(each.wanted, 3), Reason.DECISION_PLUGIN, "three") for each in decision.proposals]
        return replace(decision, proposals=tuple(cut))


async def test_decision_plugins_have_their_say() -> None:
    """On what follows from the slots as on any other rescale."""
    stage = ReactiveStage(slots=8)
    stage.decider = replace(stage.decider, usual=Vetoing())
    stage.add("orders", reactive())
    for second in (0, 10):
        await stage.tick(second)
    assert stage.parallelism("orders") == {"source": 3, "agg": 3}


async def test_a_finder_of_facts_is_believed_for_a_while() -> None:
    """What it finds is told with everything else; when it is away, what is known of the job counts."""
    asked = []

    async def find(ctx: JobContext) -> Facts:
        asked.append(ctx.job_id)
        return Facts(streaming=True, checkpoints=True, unaligned=True, fine_grained=True, hand_set=("agg",))

    stage = ReactiveStage(slots=8)
    stage.decider = replace(stage.decider, fitness=Fitness(find=find))
    stage.add("orders", reactive())
    for second in (0, 10, 20):
        decision = (await stage.tick(second))["orders"]

    assert asked == ["orders"]
    assert "checkpoints are unaligned" in decision.message
    assert "fine-grained" in decision.message
    assert "setParallelism" not in decision.message, "it is ignored, as reactive mode is meant to"


async def test_a_job_is_not_unfit_for_what_cannot_be_found_out() -> None:
    """The cluster does not answer at this moment."""

    async def find(_ctx: JobContext) -> Facts:
        message = "no answer"
        raise UnreachableError(message)

    stage = ReactiveStage(slots=8)
    stage.decider = replace(stage.decider, fitness=Fitness(find=find))
    stage.add("orders", reactive())
    for second in (0, 10):
        decision = (await stage.tick(second))["orders"]
    assert decision.outcome is Outcome.RESCALE
