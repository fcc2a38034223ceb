"""The jobs of a cycle as arrays; what did not change since the cycle before is taken over from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from headgate.algorithm.fleet import Layout, lay_out
from headgate.algorithm.shape import Shape, shape_of
from headgate.pipeline.arrow import joined
from headgate.ports import Candidate


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Jobs laid out as arrays, and where each stands."""

    names: tuple[str, ...]
    """The text forms of the jobs' keys, in the order of the layout."""
    layout: Layout

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """Place of each job, by name."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def row_of(self) -> Mapping[tuple[str, str], int]:
        """Row of each vertex, by the job's name and its id."""
        return {key: row for row, key in enumerate(self._keys)}

    @cached_property
    def jobs(self) -> pa.Array:
        """The names."""
        return pa.array(self.names, pa.string())

    @cached_property
    def vertices(self) -> pa.Array:
        """The keys of the rows, as `arrow.joined` gives them."""
        jobs, vertices = zip(*self._keys, strict=True) if self._keys else ((), ())
        return joined(pa.array(jobs, pa.string()), pa.array(vertices, pa.string()))

    @cached_property
    def _keys(self) -> list[tuple[str, str]]:
        pairs = zip(self.names, self.layout.shapes, strict=True)
        return [(name, vertex.id) for name, shape in pairs for vertex in shape.topology.vertices]


class Roster:
    """Lays the jobs of each cycle out, and remembers those of the last one."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._fleet = Fleet(names=(), layout=lay_out(()))

    def fleet(self, candidates: Sequence[Candidate]) -> Fleet:
        """Give these jobs laid out in this order."""
        before = dict(zip(self._fleet.names, self._fleet.layout.shapes, strict=True))
        names = tuple(str(candidate.sample.job) for candidate in candidates)
        pairs = zip(names, candidates, strict=True)
        shapes = tuple(_shape(candidate, before.get(name)) for name, candidate in pairs)
        if (names, shapes) != (self._fleet.names, self._fleet.layout.shapes):
            self._fleet = Fleet(names=names, layout=lay_out(shapes))
        return self._fleet


def _shape(candidate: Candidate, before: Shape | None) -> Shape:
    topology, options = candidate.sample.topology, candidate.options
    return before if before and before.fits(topology, options) else shape_of(topology, options)
