"""Plugins: what the options may name, and where it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from headgate.config import for_job
from headgate.config.plugins import catalog_of
from headgate.config.secrets import resolve
from headgate.control.listing import PluginJobList
from headgate.errors import ConfigError
from headgate.options.service import ServiceOptions
from headgate.plugins.catalog import Tables
from headgate.plugins.host import PluginHost, Provided
from headgate.plugins.kinds import Kind
from headgate.ports import JobListFetcher


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


def job_lists(
    options: ServiceOptions, host: PluginHost, now: Callable[[], ServiceOptions]
) -> Mapping[str, JobListFetcher]:
    """
    Give the job lists that plugins are, by name.

    Raises:
        ConfigError: one of them cannot be made.
    """
    return {
        name: PluginJobList(
            name=name,
            plugin=host.made(Kind.JOB_LIST, name),
            options_of=lambda job: for_job(now(), job).options,
            time_limit=options.plugins.deadline,
        )
        for name in dict.fromkeys(options.job_lists)
    }
