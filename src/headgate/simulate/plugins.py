"""The plugins of a simulation, checkers above all: the installed ones, asked at once and where it stands."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

from headgate.options.plugins import PluginOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.registry import Registry
from headgate.simulate.inline import InlineExecutor


class InlineHost(PluginHost):
    """A host whose plugins take none of a simulation's time, and whose order is no matter of chance."""

    @property
    def pool(self) -> ThreadPoolExecutor:
        """What asks at once."""
        return InlineExecutor(max_workers=1)


@cache
def inline_host() -> PluginHost:
    """Give the host of all simulations: what is installed is the same for all of them."""
    catalog = Catalog(Registry(), Tables())
    return InlineHost(lambda: catalog, PluginOptions)
