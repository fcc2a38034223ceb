"""
The order of a series: every cell as often as every other of its round, in an order that a seed alone decides.

A round rescales a job of each state and backend along every move once, in both kinds. Its blocks are shuffled, and the
moves within a block are a random closed walk, so that neither a busy hour nor a warm cache falls on one cell alone.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product

from headgate.rescales.cells import Backend, Block, Kind, Move

CORNER_ROUNDS = 5
"""How often each corner cell comes. The other cells come as often, later: as far as the budget reaches."""

_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """What is varied beside backend and kind."""

    states_mb: tuple[int, ...] = (0, 10, 100, 500)
    """Rising; the first and the last are corners."""
    parallelisms: tuple[int, ...] = (1, 2, 4, 8)
    """Rising; the changes from the first to the second and to the last are corners."""

    @property
    def corner_states(self) -> tuple[int, ...]:
        """The least and the most state."""
        return tuple(dict.fromkeys((self.states_mb[0], self.states_mb[-1])))

    @property
    def corner_moves(self) -> tuple[_Pair, ...]:
        """The smallest and the largest change, up and down."""
        first, second, last = self.parallelisms[0], self.parallelisms[1], self.parallelisms[-1]
        return _both_ways(dict.fromkeys([(first, second), (first, last)]))

    @property
    def steps_between(self) -> tuple[_Pair, ...]:
        """The changes between neighbours that are no corners, up and down."""
        return _both_ways(pairwise(self.parallelisms[1:]))


def _both_ways(pairs: Iterable[_Pair]) -> tuple[_Pair, ...]:
    return tuple(chain.from_iterable(((low, high), (high, low)) for low, high in pairs))


def draw_series(seed: int, factors: Factors | None = None) -> tuple[Block, ...]:
    """
    Return all blocks in their order: the corner cells first, then the steps between them.

    The states between come after every second round, so that a series that ends early has some of them too: of two
    states nobody could say how time grows with state.

    Args:
        seed: the same gives the same series.
        factors: what is varied; by default all of it.
    """
    factors = factors or Factors()
    chance = random.Random(seed)  # noqa: S311 - an experiment's order, no secret
    blocks: list[Block] = []
    for name, states, moves in _rounds(factors):
        jobs = list(product(states, Backend))
        chance.shuffle(jobs)
        for state_mb, backend in jobs:
            run = blocks[-1].first_run + len(blocks[-1].moves) if blocks else 0
            walk = draw_walk(moves, chance)
            block = Block(number=len(blocks), round=name, state_mb=state_mb, backend=backend, first_run=run, moves=walk)
            blocks.append(block)
    return tuple(blocks)


def _rounds(factors: Factors) -> Iterator[tuple[str, Sequence[int], Sequence[_Pair]]]:
    between = [state for state in factors.states_mb if state not in factors.corner_states]
    for number in range(1, 2 * CORNER_ROUNDS + 1):
        if number <= CORNER_ROUNDS:
            yield f"corners {number}", factors.corner_states, factors.corner_moves
        elif factors.steps_between:
            yield f"steps between {number - CORNER_ROUNDS}", factors.states_mb, factors.steps_between
        if between and number % 2 == 0:
            yield f"states between {number // 2}", between, factors.corner_moves


def draw_walk(pairs: Iterable[_Pair], chance: random.Random) -> tuple[Move, ...]:
    """
    Draw a closed walk that takes each move once in each kind (Hierholzer's way through a graph).

    Args:
        pairs: from where to where; each with its reverse, and all connected, so that there is such a walk.
        chance: decides among the walks.
    """
    ahead: dict[int, list[Move]] = defaultdict(list)
    for (before, after), kind in product(pairs, Kind):
        ahead[before].append(Move(before=before, after=after, kind=kind))
    for moves in ahead.values():
        chance.shuffle(moves)
    pending: list[tuple[int, Move | None]] = [(min(ahead), None)]
    walk: list[Move] = []
    while pending:
        place, by = pending[-1]
        if ahead[place]:
            taken = ahead[place].pop()
            pending.append((taken.after, taken))
        else:
            pending.pop()
            walk += [by] if by else []
    return tuple(reversed(walk))
