"""
The bounds of an option's value, as part of its annotation: `Annotated[int, Interval(ge=1)]`.

Who reads annotations, pydantic and Hypothesis among them, knows those of `annotated_types`; an interval takes itself
apart into these, and imports them only then, so that options themselves import nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Between which values a value lies; None: no bound."""

    __is_annotated_types_grouped_metadata__: ClassVar = True

    gt: Any = None
    ge: Any = None
    lt: Any = None
    le: Any = None

    def __iter__(self) -> Iterator[Any]:
        """Yield the bounds as `annotated_types` calls them."""
        import annotated_types  # noqa: PLC0415 - only who reads annotations needs it

        yield from annotated_types.Interval(gt=self.gt, ge=self.ge, lt=self.lt, le=self.le)

    def holds(self, value: Any) -> bool:
        """Tell whether a value lies inside; NaN never does."""
        return (
            (self.gt is None or value > self.gt)
            and (self.ge is None or value >= self.ge)
            and (self.lt is None or value < self.lt)
            and (self.le is None or value <= self.le)
        )
