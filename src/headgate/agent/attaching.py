"""Attaching to a running session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Agent:
    """Headgate at work inside of an application."""


def attach(target: Any, options: Mapping[str, str] | None = None) -> Agent:
    """Begin; see `headgate.attach`."""
    raise NotImplementedError
