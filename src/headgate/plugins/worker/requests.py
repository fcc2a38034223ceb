"""What a worker process is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.plugins.kinds import Kind

RAISED = "raised"
"""What a reply begins with when there is no answer: the error's class and its text follow."""
ANSWERED = "answered"
"""What a reply begins with when there is one, as `wire` packs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to make a plugin."""

    kind: Kind
    target: str
    """`module:attribute`"""
    parameters: tuple[tuple[str, str], ...] = ()
    """Secrets resolved."""

    @property
    def mapping(self) -> Mapping[str, str]:
        """The parameters as the plugin gets them."""
        return dict(self.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of a plugin; the first one of a recipe makes it."""

    recipe: Recipe
    method: str | None
    """None only makes the plugin; the answer is its priority."""
    arguments: tuple[Any, ...] = ()
    seconds: float
    """After how long nobody waits for the answer any more."""
