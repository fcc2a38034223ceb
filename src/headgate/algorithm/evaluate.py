"""
Evaluation: from the reduced windows of a batch of jobs to what each vertex can do and what it should be able to do.

The method is that of DS2 (Kalavri et al., OSDI 2018) as FLIP-271 has it. First what a vertex could do if it were always
busy; then what it has to do, carried from the sources through the graph; then what capacity that takes.
"""

from __future__ import annotations

from headgate.algorithm.batch import Batch, Evaluation
from headgate.algorithm.busy import busy_time, true_processing_rate
from headgate.algorithm.capacity import Band, band, needed_capacity, outside, scale_factor
from headgate.algorithm.demand import NOTHING, Pinned, backlog, demand, replaced
from headgate.algorithm.edges import output_ratios
from headgate.algorithm.experience import with_experience
from headgate.algorithm.limits import growth_limits
from headgate.algorithm.rates import MILLIS, round3
from headgate.model.measures import Measure
from headgate.model.metrics import ScalingMetric
from headgate.options.deviations import Deviation


def evaluate(batch: Batch, pinned: Pinned = NOTHING) -> Evaluation:
    """
    Evaluate all vertices of all jobs of the batch.

    A job's numbers do not depend on the other jobs, nor on their order. What cannot be told is NaN; what is pinned is
    taken as it is.
    """
    able = with_experience(true_processing_rate(batch), batch)
    true_rate = replaced(round3(able), pinned.get(ScalingMetric.TRUE_PROCESSING_RATE))
    behind = backlog(batch)
    ratios = output_ratios(batch)
    wanted = demand(batch, ratios, pinned)
    ends = band(wanted, batch.tuning, behind)
    bounds = Band(
        scale_up=replaced(ends.scale_up, pinned.get(ScalingMetric.SCALE_UP_RATE_THRESHOLD)),
        scale_down=replaced(ends.scale_down, pinned.get(ScalingMetric.SCALE_DOWN_RATE_THRESHOLD)),
    )
    needed = needed_capacity(wanted, batch.tuning)
    factor = scale_factor(needed, true_rate, exact=batch.tuning.rules[Deviation.EXACT_CAPACITY])
    limits = growth_limits(batch, wanted, ratios, true_rate, factor)
    return Evaluation(
        load=replaced(round3(busy_time(batch) / MILLIS), pinned.get(ScalingMetric.LOAD)),
        lag=replaced(round3(batch.windows[Measure.LAG].last), pinned.get(ScalingMetric.LAG)),
        true_processing_rate=true_rate,
        target_data_rate=wanted.target,
        catch_up_data_rate=wanted.catch_up,
        scale_up_threshold=bounds.scale_up,
        scale_down_threshold=bounds.scale_down,
        needed_capacity=needed,
        factor=factor,
        skew_limit=limits.skew,
        partition_limit=limits.partition,
        saturation_limit=limits.saturation,
        downstream_limit=limits.downstream,
        outside=outside(true_rate, bounds),
        backlog=behind,
    )
