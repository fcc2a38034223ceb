"""The reference autoscaler's recorded cases: one input with the output that the reference gave for it."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.options.declaration import PREFIX, declarations
from headgate.options.deviations import Deviation, Parity
from headgate.options.expectation import bare
from headgate.options.units import MemorySize, parse_duration, parse_memory_size

_DECLARED = {PREFIX + key: one for one in declarations(AutoscalerOptions) for key in (one.key, *one.deprecated)}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One recorded case; what its parts hold depends on its area, see the file's `meta`."""

    id: str
    area: str
    inputs: Mapping[str, Any]
    config: Mapping[str, Any]
    expected: Mapping[str, Any]
    parity: Parity = Parity.CURRENT
    """Whose rules the case is run by."""
    deviations_off: tuple[Deviation, ...] = ()
    """Those of Headgate's rules that are switched off while it is run."""

    @property
    def options(self) -> AutoscalerOptions:
        """The case's configuration, as far as Headgate has the option."""
        return self.options_of(self.config)

    def options_of(self, config: Mapping[str, Any]) -> AutoscalerOptions:
        """Give options under the case's rules; what comes in counts over the window, as for the reference."""
        known = {
            _DECLARED[key].name: _value(_DECLARED[key].annotation, v) for key, v in config.items() if key in _DECLARED
        }
        return AutoscalerOptions(
            **known, parity=self.parity, deviations_off=self.deviations_off, reaction=Reaction.WINDOWED
        )


def read_cases(path: Path) -> Iterator[Case]:
    """Read all cases of a file."""
    recorded = ("id", "area", "inputs", "config", "expected")
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        yield Case(**{name: case[name] for name in recorded})


def number(value: float | str | None) -> float:
    """Read a number of a series: one that is missing is NaN, as in the reference."""
    return math.nan if value is None else float(value)


def _value(annotation: Any, value: Any) -> Any:
    """Read a value without its bounds: a case may go beyond what a user may."""
    kind, _ = bare(annotation)
    if kind is timedelta:
        return parse_duration(value)
    if kind is MemorySize:
        return parse_memory_size(str(value))
    if isinstance(value, list):
        return tuple(value)
    return kind(value) if isinstance(kind, type) and issubclass(kind, StrEnum) else value
