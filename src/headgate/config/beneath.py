"""Defaults of one kind of jobs, beneath what is set for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from headgate.config.origins import Findings, Leaf, Origin, Section
from headgate.config.validation import build
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import declarations

_LAID: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[AutoscalerOptions, AutoscalerOptions]] = {}
"""What was given, by the identity of the options, which are kept so that no others get it; they cannot be hashed."""
_MOST = 256


def laid_beneath(options: AutoscalerOptions, defaults: Mapping[str, str]) -> AutoscalerOptions:
    """
    Give these options, with other values where they have the usual default; the very same ones where nothing changes.

    What somebody set to just that cannot be told from what nobody set. The same options with the same defaults give the
    same object again: jobs whose options are one object are decided together.

    Args:
        options: of a job.
        defaults: by key, relative to `job.autoscaler.`.
    """
    if len(_LAID) > _MOST:
        _LAID.clear()
    key = id(options), tuple(defaults.items())
    if key not in _LAID:
        _LAID[key] = options, _laid(options, _read(key[1]))
    return _LAID[key][1]


def _laid(options: AutoscalerOptions, own: AutoscalerOptions) -> AutoscalerOptions:
    usual = AutoscalerOptions()
    changed: dict[str, Any] = {
        name: getattr(own, name)
        for name in (each.name for each in declarations(AutoscalerOptions))
        if getattr(own, name) != getattr(usual, name) == getattr(options, name)
    }
    return replace(options, **changed) if changed else options


@cache
def _read(defaults: tuple[tuple[str, str], ...]) -> AutoscalerOptions:
    origin = Origin(source="defaults")
    section = Section(settings={key: Leaf(text=text, origin=origin) for key, text in defaults}, origin=origin)
    return build(AutoscalerOptions, section, Findings())
