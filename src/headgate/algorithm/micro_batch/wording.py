"""An application's decision in sentences, one a query: what comes in, what its batches cost, what it needs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headgate.algorithm.lag import TOLD
from headgate.algorithm.micro_batch.application import Application
from headgate.algorithm.micro_batch.queries import Query, latest_of
from headgate.algorithm.micro_batch.waves import waves
from headgate.algorithm.rates import MILLIS
from headgate.algorithm.wording import amount
from headgate.model.lag import LagOrigin
from headgate.model.measures import Measure
from headgate.model.samples import JobSample


def sentence(application: Application, place: int) -> str:
    """Say what the cores wanted follow from, for one query."""
    query, ends, need = application.queries[place], application.ends, application.need
    usual, wanted = ends.usual[place], int(ends.cores.searchsorted(need.wanted))
    can = f"{_cores(application.running)} {_do(application.running)} {amount(usual[ends.here])}/s"
    parts = [
        f"{_come(query)}, {amount(application.wish.needed[place])}/s are needed",
        f"{can} ({_costs(application, place)})",
    ]
    if wanted != ends.here:
        parts.append(f"{_cores(need.wanted)} {_do(need.wanted)} {amount(usual[wanted])}/s")
    if query.lag_origin is not LagOrigin.OFFSETS:
        parts.append(TOLD[query.lag_origin])
    return "; ".join([*parts, _setter(application, place)]).rstrip("; ")


def unknown_costs(queries: Sequence[Query], samples: Sequence[JobSample]) -> str:
    """Say of which queries the costs are not told apart yet, with the numbers so far."""
    return "; ".join(
        f"what a batch of {query.name} costs is not known apart yet: {_so_far(query, samples)}" for query in queries
    )


def _come(query: Query) -> str:
    come = "nobody can tell what comes" if math.isnan(query.rate) else f"{amount(query.rate)}/s come"
    wait = "" if math.isnan(query.lag) else f", {amount(query.lag)} rows wait"
    return f"{come}{wait}"


def _costs(application: Application, place: int) -> str:
    """Word a batch: how long it may take, what it costs, into how many tasks it is cut."""
    costs, pace = application.learnt.filled.costs, application.pace
    mine = costs.query == place
    waves_of = zip(costs.tasks[mine], waves(costs.tasks[mine], application.running), strict=True)
    shown = ", then ".join(f"{tasks} tasks in {_waves(count)}" for tasks, count in waves_of)
    fixed_ms, row_ms = float(costs.task_ms[mine].sum()), float(costs.row_ms[mine].sum())
    return (
        f"{amount(pace.period_ms[place] / MILLIS)} s for a batch of {amount(costs.batch_ms[place])} ms "
        f"and {amount(fixed_ms)} ms + {amount(row_ms)} ms a row of task time, {shown}"
    )


def _setter(application: Application, place: int) -> str:
    """Say who sets the number of cores, where it is not this query."""
    need = application.need
    if len(application.queries) == 1 or need.alone[place] == need.wanted:
        return ""
    if need.together == need.wanted:
        return f"all queries together take {_cores(need.together)}"
    return f"by itself it takes {_cores(int(need.alone[place]))}"


def _so_far(query: Query, samples: Sequence[JobSample]) -> str:
    values = latest_of(query.stages[0].id, samples)
    if Measure.ROW_COST not in values:
        return "no batch counts yet"
    known = (Measure.ROW_COST, Measure.ROW_COST_ERROR, Measure.BATCH_OVERHEAD, Measure.BATCH_OVERHEAD_ERROR)
    row, row_error, batch, batch_error = (values.get(measure, math.inf) for measure in known)
    return (
        f"{_between(row / 1000, row_error / 1000)} a row, {_between(batch, batch_error)} a batch outside of its tasks"
    )


def _between(value: float, error: float) -> str:
    return f"{amount(value)} ms (within {amount(error)})" if math.isfinite(error) else f"{amount(value)} ms (unsure)"


def _cores(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"


def _waves(count: int) -> str:
    return "1 wave" if count == 1 else f"{count} waves"


def _do(count: int) -> str:
    return "does" if count == 1 else "do"
