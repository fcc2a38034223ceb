"""What a change of executors costs a query with state: the time that the batches after the latest one lost."""

from __future__ import annotations

from datetime import timedelta

from headgate.algorithm.wording import amount, span
from headgate.model.downtime import Downtime
from headgate.model.measures import JobMeasure
from headgate.model.samples import JobSample

SPREAD = 2.0
"""How many times as much, or as little, another change may cost: one alone says no more."""
MEBIBYTE = 1024.0**2


def downtime(latest: JobSample) -> Downtime | None:
    """
    Tell what the next change is expected to cost; None where no change was seen yet, or nothing keeps state.

    State moves with the executors: partitions of those that go are read back by the others, and the batch that has to
    wait for that is late. A query without state only warms up, which no shrinking does.
    """
    lost_s, state = latest.values.get(JobMeasure.LAST_DOWNTIME), latest.values.get(JobMeasure.STATE_SIZE, 0.0)
    if lost_s is None or state <= 0:
        return None
    return Downtime(
        expected=timedelta(seconds=lost_s),
        low=timedelta(seconds=lost_s / SPREAD),
        high=timedelta(seconds=lost_s * SPREAD),
        basis=f"the latest change of executors, {span(lost_s)} with {amount(state / MEBIBYTE)} MiB of state",
        stops=False,
    )
