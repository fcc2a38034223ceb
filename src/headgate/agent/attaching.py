"""Attaching to a running session: what cannot be scaled is refused, the options are read, the parts put together."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from threading import Lock
from typing import Any

from headgate.agent.attached import Agent
from headgate.agent.composing import Control
from headgate.agent.engine import open_engine
from headgate.agent.journal import Journal
from headgate.agent.log import LOGGER
from headgate.agent.loop import ControlLoop
from headgate.agent.refusals import refuse_connect, refuse_managed, refuse_old
from headgate.agent.remembering import open_state_store
from headgate.agent.reporting import open_reporter
from headgate.agent.sessions import Target, configuration_of, is_running, target_of
from headgate.agent.settings import Settings, read_settings
from headgate.config.ordered import Overlay
from headgate.config.secrets import resolve
from headgate.errors import ConflictError, UnsupportedError
from headgate.plugins.host import PluginHost

__all__ = ["Agent", "attach"]

_agents: dict[str, tuple[Agent, str | None]] = {}
"""Those of this process, by application id, each with the one query that it was attached to; None: with all."""
_attaching = Lock()


def attach(target: Any, options: Mapping[str, Any] | None = None) -> Agent:
    """
    Begin; see `headgate.attach`.

    Where the application has an agent already, that one is given, with the options that it has.

    Raises:
        UnsupportedError: that agent looks after other queries than these.
        ConflictError: that agent was closed, and something that it has begun hangs.
    """
    refuse_connect(target)
    attached = target_of(target)
    refuse_old(attached.session.version)
    configuration = configuration_of(attached.session)
    refuse_managed(configuration, os.environ)
    settings = read_settings(configuration, options or {})
    application = attached.session.sparkContext.applicationId
    with _attaching:
        agent, query = _agents.get(application, (None, None))
        if agent is not None and agent.status.running:
            confirm_same(query, attached.query)
            LOGGER.warning("%s has an agent already, which goes on with its own options", agent.status.job)
            return agent
        if agent is not None:
            confirm_ended(agent)
        agent = _begun(attached, settings)
        _agents[application] = agent, attached.query
    atexit.register(agent.close)
    return agent


def confirm_same(present: str | None, wanted: str | None) -> None:
    """
    Raise where an application's agent looks after other queries than those that are wanted now; None stands for all.

    Raises:
        UnsupportedError: it does.
    """
    if present != wanted:
        seen, asked = (f"query {name!r} alone" if name else "all queries" for name in (present, wanted))
        message = (
            f"the application has an agent already, which looks after {seen}: it cannot have one for {asked} too. "
            "Hint: close that one first; headgate.attach(spark) looks after all queries"
        )
        raise UnsupportedError(message)


def confirm_ended(closed: Agent) -> None:
    """
    Raise while an agent that was closed may still change the application: two at once would undo each other's work.

    Raises:
        ConflictError: it may.
    """
    if not closed.has_ended:
        message = "the application's former agent is closed, and still sees something through. Hint: attach again later"
        raise ConflictError(message)


def _begun(target: Target, settings: Settings) -> Agent:
    """
    Put the parts together and start.

    Raises:
        UnsupportedError: the application has no executors that can be added or removed.
        ConfigError: the state store cannot be had.
    """
    options = settings.options
    LOGGER.setLevel(options.log_level)
    for warning in settings.warnings:
        LOGGER.warning("%s", warning)
    with ExitStack() as opened:
        engine = open_engine(target, options, opened)
        store = open_state_store(options.state_store, opened)
        host = PluginHost(lambda: settings.catalog, options.plugins, resolve=resolve)
        opened.callback(host.close)
        journal = Journal(report=open_reporter(options, opened))
        control = Control(
            engine=engine,
            options=options,
            mode=options.mode,
            host=host,
            store=store,
            journal=journal,
            overlay=Overlay(catalog=settings.catalog),
        )
        ended = ExitStack()
        loop = ControlLoop(control.runner, is_alive=partial(is_running, target.session), on_end=ended.close)
        ended.enter_context(opened.pop_all())
    loop.start()
    return Agent(engine=engine, journal=journal, mode=options.mode, loop=loop)
