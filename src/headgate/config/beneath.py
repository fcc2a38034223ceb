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


def laid_beneath(options: AutoscalerOptions, defaults: Mapping[str, str]) -> AutoscalerOptions:
    """
    Give these options, with other values where they have the usual default.

    What somebody set to just that cannot be told from what nobody set.

    Args:
        options: of a job.
        defaults: by key, relative to `job.autoscaler.`.
    """
    usual, own = AutoscalerOptions(), _read(tuple(defaults.items()))
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
