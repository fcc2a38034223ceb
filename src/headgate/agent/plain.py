"""Headgate's values as what JSON knows; the service's `intake` reads them back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from headgate.model.measures import Measure


def plain(value: Any) -> Any:
    """
    Give a value as mappings, lists, texts and numbers; an infinite number stays one.

    Instants are texts, durations seconds, and a measure is known by the name of its column.
    """
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value) if each.init}
    match value:
        case Mapping():
            return {plain(key): plain(each) for key, each in value.items()}
        case list() | tuple() | frozenset():
            return [plain(each) for each in value]
        case _:
            return _scalar(value)


def _scalar(value: Any) -> Any:
    match value:
        case Measure():
            return value.column
        case Enum():
            return value.value
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case _:
            return value
