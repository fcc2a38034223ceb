"""Making a plugin from what its entry point names and its parameters: the same here and in a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from importlib import import_module
from typing import Any

from headgate.plugins.kinds import Kind


def make(kind: Kind, target: str, parameters: Mapping[str, str]) -> Any:
    """
    Call what `module:attribute` names with the parameters.

    Raises:
        ValueError: the plugin does not want these parameters, or what came is no plugin of the kind.
        Exception: whatever importing and calling somebody's code raises.
    """
    module, _, attribute = target.partition(":")
    factory: Any = reduce(getattr, attribute.split("."), import_module(module))
    plugin = factory(parameters)
    missing = sorted(method for method in methods_of(kind) if not callable(getattr(plugin, method, None)))
    if missing:
        message = f"{type(plugin).__name__} lacks {', '.join(missing)} of {kind.port.__name__}"
        raise ValueError(message)
    return plugin


def methods_of(kind: Kind) -> frozenset[str]:
    """Give the methods of a kind's port."""
    return frozenset(name for name, each in vars(kind.port).items() if callable(each) and not name.startswith("_"))


def priority_of(plugin: Any) -> int:
    """Give where a plugin wants to stand in a chain, the lowest first."""
    priority = getattr(plugin, "priority", 0)
    if isinstance(priority, bool) or not isinstance(priority, int):
        message = f"priority {priority!r} is no whole number"
        raise ValueError(message)  # noqa: TRY004 - told like every other thing that is wrong with a plugin
    return priority
