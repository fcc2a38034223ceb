"""Records as a fluid: nothing is lost, what is full pushes back, what is uneven is limited by its hottest part."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.engines.simulated.cluster import SimulatedCluster
from headgate.engines.simulated.graph import SimulatedEdge, SimulatedJob
from headgate.engines.simulated.settings import Conditions
from headgate.engines.simulated.task import Task
from headgate.model.topology import ShipStrategy
from headgate.simulate import constant, job, steps, vertex


def run(spec: SimulatedJob, seconds: float, **conditions: Any) -> SimulatedCluster:
    """Run one job for a while."""
    cluster = SimulatedCluster([spec], conditions=Conditions(**conditions))
    cluster.advance_to(seconds)
    return cluster


def tasks(cluster: SimulatedCluster) -> dict[str, Task]:
    """Give the tasks of the only job."""
    return next(iter(cluster.jobs.values())).tasks


def shares(task: Task) -> tuple[float, float, float]:
    """Give the busy, idle and back-pressured share of a vertex's time so far."""
    whole = task.tally.run_ms * task.parallelism
    return task.tally.busy_ms / whole, task.tally.idle_ms / whole, task.tally.backpressured_ms / whole


def diamond(**rest: Any) -> SimulatedJob:
    """Make a source that feeds two vertices, which a third one joins; the second way is the slow one."""
    return job(
        "diamond",
        vertex("source", 10_000, load=constant(1000, noise=0.2), **rest),
        vertex("left", 2000, selectivity=0.5),
        vertex("right", 300),
        vertex("join", 1000),
        edges=[("source", "left"), ("source", "right"), ("left", "join"), ("right", "join")],
    )


@pytest.mark.parametrize("spec", [diamond(), diamond(partitions=5), diamond(partitions=3, partition_shares=(6, 1, 1))])
def test_no_record_is_lost_or_made(spec: SimulatedJob) -> None:
    """What arrived waits or was read; what was written was read or is in a buffer."""
    cluster = run(spec, 500)
    found = tasks(cluster)
    source = found["source"]
    assert source.ledger.arrived == pytest.approx(source.ledger.read + source.lag)
    for task in (found["left"], found["right"], found["join"]):
        written = sum(found[each.edge.source].ledger.read * each.selectivity for each in task.inputs)
        assert written == pytest.approx(task.ledger.read + task.queued)


@pytest.mark.parametrize("name", ["source", "left", "right", "join"])
def test_a_vertex_is_busy_idle_or_backpressured_at_any_time(name: str) -> None:
    """The three add up to the time that its subtasks ran."""
    assert sum(shares(tasks(run(diamond(), 300))[name])) == pytest.approx(1)


def test_the_slowest_branch_holds_up_everything_before_it() -> None:
    """The source reads what the slow branch can do, and is back-pressured for the rest of its time."""
    found = tasks(run(diamond(), 2000))
    assert found["source"].ledger.read / 2000 == pytest.approx(300, rel=0.01)
    busy, _, blocked = shares(found["source"])
    assert busy == pytest.approx(0.03, rel=0.02)
    assert blocked > 0.96
    assert shares(found["right"])[0] > 0.99
    assert shares(found["left"])[2] == 0


def test_capacity_shows_in_busy_time_whether_a_vertex_is_loaded_or_blocked() -> None:
    """Records over busy time are what a subtask can do, in each state."""
    for task in tasks(run(diamond(), 300)).values():
        rate = task.tally.records_in / (task.tally.busy_ms / 1000)
        assert rate == pytest.approx(task.spec.capacity_per_s(1), rel=1e-6)


def test_full_buffers_hold_what_they_are_given_room_for() -> None:
    """A backlog hides there before it shows as lag."""
    spec = job("hiding", vertex("source", 10_000, load=constant(200)), vertex("slow", 100, buffer_records=5000))
    early, late = run(spec, 40), run(spec, 200)
    assert tasks(early)["source"].lag == 0
    assert tasks(late)["slow"].queued == pytest.approx(5000, rel=0.05)
    assert tasks(late)["source"].lag > 10_000


def test_a_join_shares_its_time_between_its_inputs() -> None:
    """Two sources that both overload it get through in the same measure."""
    spec = job(
        "join",
        vertex("one", 10_000, load=constant(800)),
        vertex("two", 10_000, load=constant(800)),
        vertex("both", 1000),
        edges=[("one", "both"), ("two", "both")],
    )
    found = tasks(run(spec, 300))
    assert found["one"].ledger.read == pytest.approx(found["two"].ledger.read, rel=0.01)
    assert found["both"].ledger.read / 300 == pytest.approx(1000, rel=0.01)


def test_a_hot_key_limits_its_vertex_while_the_others_are_idle() -> None:
    """The hottest of ten subtasks gets 0.5 + 0.05 of all records, so ten do what 1 / 0.55 evenly loaded ones do."""
    hot = vertex("hot", 100, parallelism=10, hot_key_share=0.5)
    skewed = job("skewed", vertex("source", 1e6, load=constant(1000)), hot)
    found = tasks(run(skewed, 300))["hot"]
    assert found.ledger.read / 300 == pytest.approx(100 / 0.55, rel=0.02)
    assert found.tally.hottest_ms / found.tally.run_ms > 0.99
    assert shares(found)[0] == pytest.approx(1 / 5.5, rel=0.02)


def test_key_groups_that_do_not_divide_evenly_make_a_hottest_subtask() -> None:
    """Of 128 key groups, one of 100 subtasks has two: they do what 64 evenly loaded ones would."""
    keyed = vertex("keyed", 10, parallelism=100, keyed=True)
    found = tasks(run(job("groups", vertex("source", 1e6, load=constant(2000)), keyed), 200))["keyed"]
    assert found.ledger.read / 200 == pytest.approx(640, rel=0.02)
    assert keyed.coldest_share(100) == 1 / 128


def test_subtasks_beyond_the_partitions_are_idle() -> None:
    """Eight subtasks on four partitions read as fast as four."""
    spec = job("narrow", vertex("source", 100, parallelism=8, partitions=4, load=constant(1000)), vertex("sink", 1e6))
    source = tasks(run(spec, 100))["source"]
    assert source.ledger.read / 100 == pytest.approx(400)
    assert shares(source)[0] == pytest.approx(0.5)
    assert source.tally.coldest_ms == 0


def test_partitions_that_do_not_divide_evenly_make_a_hottest_subtask() -> None:
    """Of five partitions two subtasks get three and two: lag is left on those of the first alone."""
    spec = job("uneven", vertex("source", 100, parallelism=2, partitions=5, load=constant(180)), vertex("sink", 1e6))
    source = tasks(run(spec, 100))["source"]
    assert source.ledger.read / 100 == pytest.approx(100 + 0.4 * 180)
    assert source.lag == pytest.approx((0.6 * 180 - 100) * 100)


def test_a_limit_from_outside_is_raised_by_no_parallelism() -> None:
    """The sink is fully busy at 2 and at 20 subtasks, and takes the same."""
    for parallelism in (2, 20):
        sink = vertex("sink", 100, parallelism=parallelism, limit=150)
        found = tasks(run(job("limited", vertex("source", 1e6, load=constant(500)), sink), 200))["sink"]
        assert found.ledger.read / 200 == pytest.approx(150, rel=0.02)
        assert shares(found)[0] > 0.98


def test_a_broadcast_is_written_once_and_read_by_every_subtask() -> None:
    """As an engine counts it."""
    spec = SimulatedJob(
        vertices=(vertex("source", 1000, load=constant(10)), vertex("all", 1000, parallelism=4)),
        edges=(SimulatedEdge(source="source", target="all", ship=ShipStrategy.BROADCAST),),
    )
    found = tasks(run(spec, 100))
    assert found["source"].tally.records_out == pytest.approx(1000)
    assert found["all"].tally.records_in == pytest.approx(4 * 1000 - found["all"].queued)


def test_an_edge_may_have_a_selectivity_of_its_own() -> None:
    """Two outputs of one vertex, each with its share; what is written is counted over both."""
    spec = SimulatedJob(
        vertices=(vertex("source", 1000, load=constant(100), selectivity=2), vertex("a", 1e6), vertex("b", 1e6)),
        edges=(
            SimulatedEdge(source="source", target="a"),
            SimulatedEdge(source="source", target="b", selectivity=0.25),
        ),
    )
    found = tasks(run(spec, 100))
    assert found["source"].tally.records_out == pytest.approx(2.25 * 10_000)
    assert found["a"].ledger.read / found["b"].ledger.read == pytest.approx(8, rel=0.01)


def test_a_finer_step_changes_next_to_nothing() -> None:
    """The model does not depend on the step that it is computed in."""
    spec = job("fine", vertex("source", 1000, load=steps({0: 100, 100: 400})), vertex("sink", 300))
    coarse, fine = (tasks(run(spec, 400, step_s=step))["source"] for step in (2.0, 0.25))
    assert coarse.ledger.read == pytest.approx(fine.ledger.read, rel=0.01)


def test_a_bounded_source_finishes_and_then_all_that_it_feeds() -> None:
    """What it had was read to the last record, and the job is over."""
    spec = job("batch", vertex("source", 100, load=constant(1000), records=2000), vertex("sink", 80))
    cluster = run(spec, 22)
    assert [each.finished for each in cluster.jobs["batch"].topology.vertices] == [False, False]
    cluster.advance_to(60)
    assert cluster.jobs["batch"].status(60).is_over
    assert tasks(cluster)["sink"].ledger.read == pytest.approx(2000)
    assert cluster.slots_free == cluster.slots_total
