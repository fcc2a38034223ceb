"""How many records flow along each edge of the job graphs, and how many a vertex sends on for each one it reads."""

from __future__ import annotations

import numpy as np

from headgate.algorithm.batch import Batch
from headgate.algorithm.rates import MILLIS, ieee, rate
from headgate.algorithm.stats import Bools, Floats, Ints
from headgate.model.measures import Measure
from headgate.options.deviations import Deviation


@ieee
def output_ratios(batch: Batch) -> Floats:
    """
    Give for each edge the records it carries per record that its upstream reads; 0 where nothing flows.

    Source: DS2's selectivity; the reference's `computeOutputRatio`.
    """
    read = rate(batch.windows[Measure.NUM_RECORDS_IN])
    written = rate(batch.windows[Measure.NUM_RECORDS_OUT])
    by_writers = edge_rates(batch, read, written)
    as_read = np.where(
        batch.tuning.rules[Deviation.SHARED_INPUTS][batch.upstream],
        np.minimum(by_writers, shared_rates(batch, read, written)),
        by_writers,
    )
    as_sent = with_records_in_flight(batch, as_read, read, written)
    carried = np.where(batch.tuning.rules[Deviation.RECORDS_IN_FLIGHT][batch.upstream], as_sent, as_read)
    base = read[batch.upstream]
    return np.where((base > 0) & (carried > 0), carried / base, 0.0)


def edge_rates(batch: Batch, read: Floats, written: Floats) -> Floats:
    """
    Give the records/s of each edge as its downstream reads them.

    An engine counts what a vertex writes over all outputs and reads over all inputs. So an edge is what the downstream
    reads if that has no other input; less what its other inputs bring, if each of those writes nowhere else; and what
    the upstream writes to all outputs if neither helps, which overestimates (FLINK-39939).
    Source: the reference's `computeEdgeDataRate`.
    """
    alone = inputs(batch)[batch.downstream] == 1
    rest = read[batch.downstream] - beside(batch, written)
    others_single = beside(batch, ~single_output(batch)) == 0
    known = others_single & ~np.isnan(rest)
    return np.where(alone, read[batch.downstream], np.where(known, rest, written[batch.upstream]))


def shared_rates(batch: Batch, read: Floats, written: Floats) -> Floats:
    """
    Bound the records/s of each edge by what its downstream reads, where several of its inputs write elsewhere, too.

    Flink counts a record once, to however many outputs it goes, so a side output of a few records seems to carry all
    that its upstream writes (FLINK-39939). What is read is shared among such inputs in proportion to what they write;
    infinite where nothing is to be shared.
    """
    elsewhere = ~single_output(batch)[batch.upstream]
    sent = written[batch.upstream]
    rest = read - _into(batch, np.where(elsewhere, 0.0, sent))
    claimed = _into(batch, np.where(elsewhere, sent, 0.0))
    several = _into(batch, elsewhere.astype(np.float64)) > 1
    share = np.maximum(rest, 0) / claimed
    applies = elsewhere & several[batch.downstream] & ~batch.broadcast
    bound = np.where(applies, sent * share[batch.downstream], np.inf)
    return np.where(np.isnan(bound), np.inf, bound)


def with_records_in_flight(batch: Batch, carried: Floats, read: Floats, written: Floats) -> Floats:
    """
    Give the records/s of each edge as its upstream sends them, wherever that can be told.

    A slow vertex reads no more than it can do, and its backlog hides in network buffers: with an engine's default
    buffers for so long that no lag shows anywhere, while the upstream still writes at full speed. Later it reads more
    than comes, until the buffers are empty. What is written is the demand, in both cases. What was read beyond all that
    was ever written cannot come from a buffer: as far as that explains it, what is read counts.

    It can be told for an upstream with one output; into a vertex with several inputs only if each upstream has one
    output, and then by the sum. Broadcast edges are left alone: a record is written once and read by every subtask.
    """
    sent = written[batch.upstream]
    tellable = single_output(batch)[batch.upstream] & ~batch.broadcast
    all_tellable = np.bincount(batch.downstream, weights=~tellable, minlength=len(read))[batch.downstream] == 0
    most = sent + unexplained(batch)[batch.downstream]
    return np.where(all_tellable, np.fmax(sent, np.fmin(carried, most)), carried)


def unexplained(batch: Batch) -> Floats:
    """
    Give for each vertex the records/s that it read beyond what its inputs ever wrote, since they all started.

    Above 0 where the counters do not count the same: two edges between the same vertices, a partial restart.
    """
    read, written = batch.windows[Measure.NUM_RECORDS_IN], batch.windows[Measure.NUM_RECORDS_OUT]
    beyond = read.last - _into(batch, written.last[batch.upstream])
    return MILLIS * np.maximum(0, beyond) / np.maximum(read.elapsed_ms, 1)


def inputs(batch: Batch) -> Ints:
    """Count the edges into each vertex."""
    return np.bincount(batch.downstream, minlength=len(batch.job))


def single_output(batch: Batch) -> Bools:
    """Tell which vertices have exactly one edge out."""
    single: Bools = np.bincount(batch.upstream, minlength=len(batch.job)) == 1
    return single


def beside(batch: Batch, value: Floats | Bools) -> Floats:
    """Give for each edge the sum of an upstream's value over the *other* edges into the same vertex."""
    edge, other = siblings(batch.downstream)
    sums = np.zeros(len(batch.downstream))
    np.add.at(sums, edge, value[batch.upstream[other]].astype(np.float64))
    return sums


def siblings(downstream: Ints) -> tuple[Ints, Ints]:
    """
    Pair every edge with each other edge into the same vertex.

    Sums over these pairs are exact where "all minus mine" would leave the noise of a subtraction, or a NaN of its own.
    """
    order = np.argsort(downstream, kind="stable")
    size = np.bincount(downstream)
    begin = np.cumsum(size) - size
    repeats = size[downstream]
    edge = np.repeat(np.arange(len(downstream)), repeats)
    place = np.arange(len(edge)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    other = order[begin[downstream[edge]] + place]
    different = edge != other
    return edge[different], other[different]


def _into(batch: Batch, value: Floats) -> Floats:
    """Sum a value of edges at the vertices they lead to."""
    sums = np.zeros(len(batch.job))
    np.add.at(sums, batch.downstream, value)
    return sums
