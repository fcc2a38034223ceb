"""The reference autoscaler's recorded cases: one input with the output that the reference gave for it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Any

from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.options.declaration import PREFIX
from headgate.options.units import parse_duration

_TYPES = {field.name: type(field.default) for field in dataclasses.fields(AutoscalerOptions)}
_NAMES = {PREFIX + field.metadata["key"]: field.name for field in dataclasses.fields(AutoscalerOptions)}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One recorded case; what its parts hold depends on its area, see the file's `meta`."""

    id: str
    area: str
    inputs: Mapping[str, Any]
    config: Mapping[str, Any]
    expected: Mapping[str, Any]

    @property
    def options(self) -> AutoscalerOptions:
        """The case's configuration, as far as Headgate has the option."""
        known = {_NAMES[key]: _option(_NAMES[key], value) for key, value in self.config.items() if key in _NAMES}
        return AutoscalerOptions(**known)


def read_cases(path: Path) -> Iterator[Case]:
    """Read all cases of a file."""
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        yield Case(**{field.name: case[field.name] for field in dataclasses.fields(Case)})


def _option(name: str, value: Any) -> Any:
    if _TYPES[name] is timedelta:
        return parse_duration(value)
    if issubclass(_TYPES[name], Enum):
        return BusyTimeAggregator(value)
    return tuple(value) if isinstance(value, list) else value
