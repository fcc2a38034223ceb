"""Growth that cannot help is not asked for: what the reference would do, and what we do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from headgate.algorithm.batch import Evaluation
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.history import Growth
from headgate.algorithm.reduce import reduce_windows
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator, ScalingSignal
from headgate.options.deviations import Deviation, Parity
from headgate.testing.builders import ORDERS, chain
from headgate.testing.tables import Row, steady, table_of

PLAIN = AutoscalerOptions(utilization_boundary=0.0, catch_up_duration=AutoscalerOptions().catch_up_duration * 0)
"""No room for lag and restart, so that the numbers are round: 700/s need 1000/s."""


def _evaluated(
    topology: Topology,
    rows: list[Row],
    options: AutoscalerOptions = PLAIN,
    growths: Mapping[VertexId, Growth] | None = None,
) -> Evaluation:
    job = FleetJob(key=ORDERS, topology=topology, options=options, growths=growths or {})
    return evaluate(assemble([job], reduce_windows(table_of(rows))))


def _hot(vertex: str, *, read: float, hottest: float, mean: float, parallelism: int) -> list[Row]:
    """Let one subtask be busier than the average."""
    return [
        replace(row, values={**row.values, Measure.ACCUMULATED_BUSY_TIME: mean * parallelism * row.at_ms})
        for row in steady(vertex, read=read, busy=hottest)
    ]


def test_a_hot_key_is_no_cause_to_grow() -> None:
    """One subtask of ten is always busy, all together a third of their time: ten are enough, whatever it wants."""
    rows = _hot("agg", read=700, hottest=1.0, mean=0.35, parallelism=10)

    found = _evaluated(chain({"agg": 10}), rows)

    assert found.factor[0] == pytest.approx(1 / 0.7, abs=1e-4)
    assert found.skew_limit[0] == 1.0


def test_a_hot_key_leaves_room_for_what_all_need() -> None:
    """The average itself is above its target, so growth helps as far as that goes."""
    rows = _hot("agg", read=700, hottest=1.4, mean=0.84, parallelism=10)

    assert _evaluated(chain({"agg": 10}), rows).skew_limit[0] == pytest.approx(1.2, abs=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        replace(PLAIN, busy_time_aggregator=BusyTimeAggregator.AVG),
        replace(PLAIN, deviations_off=(Deviation.SKEW,)),
        replace(PLAIN, parity=Parity.REFERENCE),
    ],
)
def test_skew_can_be_left_out_of_account(options: AutoscalerOptions) -> None:
    """By the average there is none; the reference does not look."""
    rows = _hot("agg", read=700, hottest=1.0, mean=0.35, parallelism=10)

    assert math.isinf(_evaluated(chain({"agg": 10}), rows, options).skew_limit[0])


def _hot_partition(share: float, *, read: float = 700) -> list[Row]:
    """Let a source be always busy with one partition that has a share of all records."""
    rows = steady("in", read=read, busy=1.0, lag=(0, 0))
    return [replace(row, values={**row.values, Measure.FULLEST_SHARE: share}) for row in rows]


def test_more_subtasks_do_not_divide_a_partition() -> None:
    """
    Four subtasks do 700/s and 1000/s are needed; one partition has 90 % of that, and one subtask does 175/s.

    What is beyond that subtask waits whatever is done, and four are enough for the rest.
    """
    found = _evaluated(chain({"in": 4}), _hot_partition(0.9))

    assert found.factor[0] == pytest.approx(1 / 0.7, abs=1e-4)
    assert found.partition_limit[0] == 1.0


def test_a_full_partition_leaves_room_for_the_others() -> None:
    """It has 300/s of 1000/s, a subtask does 175/s: the 125/s beyond are cut off, 875/s of 700/s are left."""
    found = _evaluated(chain({"in": 4}), _hot_partition(0.3))

    assert found.partition_limit[0] == pytest.approx(1.25)


def test_partitions_that_are_alike_limit_nothing() -> None:
    """Each of sixteen has what a subtask can read."""
    assert math.isinf(_evaluated(chain({"in": 4}), _hot_partition(1 / 16)).partition_limit[0])


def test_a_vertex_that_cannot_grow_limits_those_before_it() -> None:
    """
    The sink takes 400/s at most and is excluded; the source reads 800/s and would be doubled for nothing.

    The reference does so (FLINK-31215). Ours gives the source what 400/s take at its target, which it has.
    """
    rows = steady("in", read=800, written=800, busy=1.0) + steady("sink", read=800, busy=2.0)
    options = replace(PLAIN, vertex_exclude_ids=("sink",))

    found = _evaluated(chain({"in": 4, "sink": 4}), rows, options)

    assert found.factor[0] == pytest.approx(1 / 0.7, abs=1e-4)
    assert found.downstream_limit[0] == 1.0
    theirs = _evaluated(chain({"in": 4, "sink": 4}), rows, replace(options, parity=Parity.REFERENCE))
    assert math.isinf(theirs.downstream_limit[0])


def test_the_limit_is_what_the_narrowest_vertex_takes_when_always_busy() -> None:
    """The sink may grow from 2 to 3 subtasks and takes 750/s then: its source is scaled for that, not for 1000/s."""
    rows = steady("in", read=1000, written=1000, busy=1.0) + steady("sink", read=1000, busy=2.0)
    options = replace(PLAIN, max_parallelism=3)

    found = _evaluated(chain({"in": 2, "sink": 2}), rows, options)

    assert found.downstream_limit[0] == pytest.approx(0.75 / 0.7, abs=1e-4)


def test_nobody_is_limited_where_all_can_grow() -> None:
    """The limits stay out of the way of an ordinary job."""
    rows = steady("in", read=800, written=800, busy=1.0) + steady("sink", read=800, busy=2.0)

    found = _evaluated(chain({"in": 4, "sink": 4}), rows)

    assert all(map(math.isinf, found.downstream_limit.tolist()))


SINK = VertexId("sink")


@pytest.mark.parametrize(("before", "limit"), [(390.0, 1.0), (200.0, math.inf)])
def test_a_sink_that_got_no_faster_is_saturated(before: float, limit: float) -> None:
    """It was expected to do 800/s after its growth and does 400/s, as nearly before: something else limits it."""
    rows = steady("in", read=800, written=800, busy=0.5) + steady("sink", read=800, busy=2.0)

    found = _evaluated(chain({"in": 4, "sink": 4}), rows, growths={SINK: (before, 800.0)})

    assert found.saturation_limit[1] == limit
    assert math.isinf(found.saturation_limit[0])


def test_a_saturated_sink_limits_its_source() -> None:
    """What no parallelism of the sink takes is no reason to enlarge the source."""
    rows = steady("in", read=800, written=800, busy=1.0) + steady("sink", read=800, busy=2.0)

    assert _evaluated(chain({"in": 4, "sink": 4}), rows, growths={SINK: (390.0, 800.0)}).downstream_limit[0] == 1.0


def test_a_growth_by_little_tells_nothing() -> None:
    """From ten to eleven subtasks noise may hide all of the gain: the sink may grow with its load."""
    rows = steady("in", read=800, written=800, busy=0.5) + steady("sink", read=800, busy=2.0)

    found = _evaluated(chain({"in": 4, "sink": 4}), rows, growths={SINK: (398.0, 438.0)})

    assert math.isinf(found.saturation_limit[1])


def test_by_busy_time_alone_nobody_limits_another() -> None:
    """Without output ratios nothing is known of what comes from further up."""
    rows = steady("in", read=0, written=700, busy=0.5) + steady("map", read=700, busy=1.0)
    options = replace(PLAIN, scaling_signal=ScalingSignal.BUSY_TIME)

    found = _evaluated(chain({"in": 4, "map": 4}), rows, options)

    assert found.factor[1] == pytest.approx(1 / 0.7, abs=1e-4)
    assert all(map(math.isinf, found.downstream_limit.tolist()))
