"""Says what a series would do, round by round."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import groupby

from headgate.rescales.cells import Block
from headgate.rescales.estimate import estimated_block
from headgate.rescales.measure import Order


def plan_text(order: Order, done: frozenset[int]) -> str:
    """
    Return a line a round, in order, with what is measured already and how far the budget will probably reach.

    Args:
        order: what would be measured.
        done: the runs that the file has.
    """
    return "\n".join([_head(order), *_rounds(order, done)])


def _head(order: Order) -> str:
    runs = sum(len(block.moves) for block in order.blocks)
    return f"seed {order.seed}: {runs} rescales in {len(order.blocks)} jobs, as far as {order.budget} reaches"


def _rounds(order: Order, done: frozenset[int]) -> Iterator[str]:
    ends = timedelta()
    for name, members in groupby(order.blocks, key=lambda block: block.round):
        blocks = list(members)
        pending = [block for block in blocks if _left(block, done)]
        ends += sum(map(estimated_block, pending), timedelta())
        left = sum(_left(block, done) for block in blocks)
        total = sum(len(block.moves) for block in blocks)
        reach = "" if ends <= order.budget or not left else ", beyond the budget"
        minutes = ends / timedelta(minutes=1)
        yield f"  {name:<20} {_states(blocks)}: {left} of {total} left, done after about {minutes:.0f} min{reach}"


def _left(block: Block, done: frozenset[int]) -> int:
    return sum(run not in done for run in range(block.first_run, block.first_run + len(block.moves)))


def _states(blocks: list[Block]) -> str:
    return ", ".join(str(state) for state in sorted({block.state_mb for block in blocks})) + " MB"
