"""What differs between two sets of options, and which of it can change in a running process."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from headgate.config.describing import shown, written
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import Declaration, Options, declarations, paths

LIVE = (
    "mode",
    "collect_interval",
    "decide_interval",
    "autoscaler",
    "jobs",
    "signals",
    "plugin_instances",
    "custom_evaluators",
    "custom_executors",
    "custom_alignments",
    "log.retention",
    "log.compact_after",
    "events.retention",
    "state_retention",
)
"""Fields that can change while running, with all that is in them. Whatever is not named here needs a restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One option that differs."""

    path: str
    """The fields that lead to it, such as `log.retention`."""
    place: str
    """Its whole key as declared, such as `jobs[0].autoscaler.enabled`."""
    name: str
    """The key under which people know it."""
    values: str | None
    """Both values, secrets masked; None where they are lists or tables."""

    def __str__(self) -> str:
        """Name it, with what can be shown of it."""
        return f"{self.name} {self.values}" if self.values else self.name

    def is_own(self, places: Collection[str]) -> bool:
        """Tell whether it is set at its own place: entries of a list also have what is set for all."""
        return "]" not in self.path or self.place in places or self.values is None


def is_live(path: str) -> bool:
    """Tell whether the field at a path can change while running."""
    return any(path == live or path.startswith((f"{live}.", f"{live}[")) for live in LIVE)


def differences(old: Options, new: Options, path: str = "", place: str = "") -> Iterator[Difference]:
    """Give what differs between two groups of one class that stand at a path and a place, each ended by its dot."""
    for declaration in declarations(type(old)):
        before, after = getattr(old, declaration.name), getattr(new, declaration.name)
        inner = f"{path}{declaration.name}", f"{place}{declaration.key}"
        if before == after:
            continue
        if declaration.group:
            yield from differences(before, after, f"{inner[0]}.", f"{inner[1]}.")
        elif declaration.listed_group and len(before) == len(after):
            for index, (each, other) in enumerate(zip(before, after, strict=True)):
                yield from differences(each, other, f"{inner[0]}[{index}].", f"{inner[1]}[{index}].")
        else:
            values = _values(declaration, before, after)
            yield Difference(path=inner[0], place=inner[1], name=_name(declaration, *inner), values=values)
    if isinstance(old, AutoscalerOptions) and isinstance(new, AutoscalerOptions):
        yield from _only_set(old, new, path, place)


def _only_set(old: AutoscalerOptions, new: AutoscalerOptions, path: str, place: str) -> Iterator[Difference]:
    """Give what was set to its default, or is no longer: the value stays, but some count only where they are set."""
    where, declared = paths(AutoscalerOptions), {each.key: each for each in declarations(AutoscalerOptions)}
    for key in sorted({*old.keys_set} ^ {*new.keys_set}):
        read = attrgetter(where[key])
        if read(old) == read(new):
            inner, text = (f"{path}{where[key]}", f"{place}{key}"), written(read(new))
            name = _name(declared[key], *inner) if key in declared else inner[1]
            values = f"unset -> {text}" if key in new.keys_set else f"{text} -> unset"
            yield Difference(path=inner[0], place=inner[1], name=name, values=values)


def merged(old: Any, new: Any, path: str = "") -> Any:
    """
    Give the old options with the live fields of the new ones.

    Both are groups of one class, whose fields stand below `path`, which ends with its dot.

    Raises:
        ValueError: the two do not go together.
    """
    values = {}
    for declaration in declarations(type(old)):
        inner = f"{path}{declaration.name}"
        if is_live(inner):
            values[declaration.name] = getattr(new, declaration.name)
        elif declaration.group:
            parts = getattr(old, declaration.name), getattr(new, declaration.name)
            values[declaration.name] = merged(*parts, f"{inner}.")
    return replace(old, **values)


def _values(declaration: Declaration, before: object, after: object) -> str | None:
    if declaration.is_table or declaration.listed_group:
        return None
    return f"{shown(declaration, before)} -> {shown(declaration, after)}"


def _name(declaration: Declaration, path: str, place: str) -> str:
    return declaration.apart[0] if declaration.apart and "]" not in path else place
