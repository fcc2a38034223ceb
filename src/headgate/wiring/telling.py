"""Who is told of events."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial

from headgate.events.best_effort import BestEffortEventHandler
from headgate.events.merging import MergingEventHandler
from headgate.events.opening import EventService, open_events
from headgate.options.events import EventOptions
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.ports import EventHandler
from headgate.stores.connecting import connect
from headgate.telemetry.tap import Tap

_ANSWER_WITHIN = timedelta(seconds=5)


def open_listeners(
    options: EventOptions, host: PluginHost, instead: EventHandler | None, stack: AsyncExitStack
) -> EventService:
    """Make the handlers that the options name, or tell somebody else instead; they are closed with the stack."""
    if instead is not None:
        return EventService(handler=MergingEventHandler(instead))
    opened = open_events(options, partial(connect, answer_within=_ANSWER_WITHIN), host.factories(Kind.EVENT_HANDLER))
    stack.push_async_callback(asyncio.to_thread, opened.close)
    return opened


def tellers(handler: EventHandler, tap: Tap) -> tuple[EventHandler, EventHandler]:
    """Give who tells what is saved, and says when that failed, and who tells the rest and never fails."""
    return tap.events(handler), tap.events(BestEffortEventHandler(handler))
