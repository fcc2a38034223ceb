"""Commands that are loaded when they are called: one of them needs far less than all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, Literal, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

MARKUP: Literal["markdown"] = "markdown"
"""Else the line breaks of docstrings stay in help, whatever the terminal's width."""


class Place(NamedTuple):
    """Where a command is, and under which heading help has it."""

    panel: str
    module: str
    attribute: str
    """A function, or a `typer.Typer` of further commands."""


class OnDemand(TyperGroup):
    """A group of the commands of these places, in their order."""

    places: ClassVar[Mapping[str, Place]] = {}

    def __init__(self, **settings: Any) -> None:
        """Know the names, which is enough to list them, and for what a misspelt one may have meant."""
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name) for name in self.places}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer hands it over
        """Load a command; None where there is none of the name."""
        place = self.places.get(cmd_name)
        return _loaded(cmd_name, place) if place else None


def _loaded(name: str, place: Place) -> Any:
    found = getattr(import_module(place.module), place.attribute)
    around = typer.Typer(rich_markup_mode=MARKUP)
    if isinstance(found, typer.Typer):
        around.add_typer(found, name=name, rich_help_panel=place.panel)
    else:
        around.command(name, rich_help_panel=place.panel)(found)
    return get_group(around).commands[name]
