"""
The input of evaluation: the vertices of many jobs as parallel arrays. One job is a batch of one.

Rows of a job stand together, in topological order; nothing else about their order matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.algorithm.stats import Bools, Floats, Ints, WindowStats
from headgate.model.measures import Measure
from headgate.options.deviations import Deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The options that formulas read, one value a row; see `AutoscalerOptions` for their meaning."""

    utilization_target: Floats
    utilization_min: Floats
    utilization_max: Floats
    catch_up_s: Floats
    """Whole seconds; 0 ignores lag and restart."""
    restart_s: Floats
    """Whole seconds."""
    backlog_threshold_s: Floats
    """Whole seconds."""
    observed_switch_threshold: Floats
    observed_min_observations: Floats
    busy_average: Bools
    """True: busy time from counters over all subtasks (AVG); False: from `LOAD` (MAX, MIN)."""
    busy_only: Bools
    """Whether only what a vertex reads itself counts as its demand."""
    effectiveness_threshold: Floats
    """Share of the expected gain that a growth must bring."""
    rules: Mapping[Deviation, Bools]
    """Which deliberate deviations hold for the row's job; every one is answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """n vertices of m jobs with e edges."""

    job: Ints
    """(n,) index of the row's job, 0 to m-1."""
    level: Ints
    """(n,) longest way from a source, 0 for sources."""
    is_source: Bools
    """(n,)"""
    parallelism: Floats
    """(n,)"""
    ceiling: Floats
    """(n,) largest parallelism that the vertex can have."""
    rate_before: Floats
    """(n,) true rate before the vertex's last growth, if that led to the running parallelism; else NaN."""
    rate_expected: Floats
    """(n,) true rate that was expected of that growth; else NaN."""
    added: Floats
    """(n,) records/s that an external metric adds to what comes into a source; 0 where none does."""
    expected: Floats
    """(n,) true rate that was expected of the rescale that led to the running parallelism; NaN where none counts."""
    worth: Floats
    """(n,) samples that this expectation is worth."""
    arriving: Floats
    """(n,) records/s that come into a source since they changed last; NaN where the whole window counts."""
    upstream: Ints
    """(e,) row of the edge's source."""
    downstream: Ints
    """(e,) row of the edge's target."""
    broadcast: Bools
    """(e,) whether the edge copies each record to every subtask."""
    windows: Mapping[Measure, WindowStats]
    """Every measure, also one that was never seen (all NaN)."""
    tuning: Tuning


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """
    The output of evaluation: (n,) arrays, NaN where a number could not be had, infinite where it is.

    Rates are records per second. Values carry the reference's rounding to three decimals.
    """

    load: Floats
    """Busy share of a subtask, 0 to 1."""
    lag: Floats
    """Latest lag in records."""
    true_processing_rate: Floats
    target_data_rate: Floats
    catch_up_data_rate: Floats
    scale_up_threshold: Floats
    """A true rate below it is too slow."""
    scale_down_threshold: Floats
    """A true rate above it is too fast."""
    needed_capacity: Floats
    """Capacity at the utilization target, restart and catch-up included."""
    factor: Floats
    """`needed_capacity / true_processing_rate`, unclamped."""
    skew_limit: Floats
    """Largest sensible factor where the hottest subtask is the limit; else infinite."""
    partition_limit: Floats
    """Largest sensible factor where one partition of a source is the limit; else infinite."""
    saturation_limit: Floats
    """1 for a saturated sink; else infinite."""
    downstream_limit: Floats
    """Largest sensible factor where a vertex further down cannot take more; else infinite."""
    outside: Bools
    """Whether the true rate lies outside its thresholds; False where anything is NaN."""
    backlog: Bools
    """Of the row's whole job."""
