"""Throw-away distributions: a module and its metadata in a folder that is put on the path."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headgate.options.plugins import PluginOptions
from headgate.options.units import parse_duration
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.registry import Registry
from headgate.testing.distributions import write_distribution

Hosting = Callable[..., PluginHost]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give what installs a distribution: its name, its entry points by group, its code."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def install(name: str, points: dict[str, dict[str, str]], code: str) -> None:
        write_distribution(tmp_path, name, points, code)

    return install


@pytest.fixture
def hosting() -> Iterator[Hosting]:
    """Give what makes hosts; they are closed at the end."""
    hosts: list[PluginHost] = []

    def host(
        tables: Tables | None = None, *, deadline: str = "2 s", budget: str = "20 s", **parts: object
    ) -> PluginHost:
        limits = PluginOptions(deadline=parse_duration(deadline), budget=parse_duration(budget))
        hosts.append(PluginHost(Catalog(Registry(), tables or Tables()), limits, **parts))  # type: ignore[arg-type]
        return hosts[-1]

    yield host
    for one in hosts:
        one.close()
