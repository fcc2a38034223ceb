"""Defaults of one kind of jobs, beneath what is set for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headgate.config.origins import Findings, Leaf, Origin, Section
from headgate.config.validation import build
from headgate.options.autoscaler import AutoscalerOptions

_LAID: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[AutoscalerOptions, AutoscalerOptions]] = {}
"""What was given, by the identity of the options, which are kept so that no others get it; they cannot be hashed."""
_MOST = 256


def laid_beneath(options: AutoscalerOptions, defaults: Mapping[str, str]) -> AutoscalerOptions:
    """
    Give these options, with other values where nothing is set; the very same ones where all of it is.

    The same options with the same defaults give the same object again: jobs whose options are one object are decided
    together.

    Args:
        options: of a job.
        defaults: by key, relative to `job.autoscaler.`.
    """
    if len(_LAID) > _MOST:
        _LAID.clear()
    key = id(options), tuple(defaults.items())
    if key not in _LAID:
        _LAID[key] = options, _laid(options, defaults)
    return _LAID[key][1]


def _laid(options: AutoscalerOptions, defaults: Mapping[str, str]) -> AutoscalerOptions:
    origin = Origin(source="defaults")
    settings = {key: Leaf(text=text, origin=origin) for key, text in defaults.items() if not options.is_set(key)}
    if not settings:
        return options
    laid = build(AutoscalerOptions, Section(settings=settings, origin=origin), Findings(), base=options)
    return replace(laid, keys_set=options.keys_set, signals_in_force=options.signals_in_force)
