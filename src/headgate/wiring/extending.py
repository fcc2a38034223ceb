"""Plugins: what the options may name, and where it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

from headgate.config.plugins import catalog_of
from headgate.config.secrets import resolve
from headgate.errors import ConfigError
from headgate.options.service import ServiceOptions
from headgate.plugins.catalog import Tables
from headgate.plugins.host import PluginHost, Provided


async def open_host(now: Callable[[], ServiceOptions], provided: Provided, stack: AsyncExitStack) -> PluginHost:
    """
    Give the host of all plugins that options may name; what stands already is not made again.

    Raises:
        ConfigError: an instance that the operator declared is of nothing known or does not want its parameters, or one
            that would run in this process cannot be made.
    """
    host = PluginHost(lambda: catalog_of(Tables.of(now())), lambda: now().plugins, provided=provided, resolve=resolve)
    stack.callback(host.close)
    if faults := await asyncio.to_thread(lambda: tuple(host.refusals())):
        raise ConfigError(faults)
    return host
