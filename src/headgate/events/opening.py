"""From the options `events` to the one handler that the service tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Engine, exc

from headgate.config.secrets import resolve
from headgate.errors import ConfigError
from headgate.events.database import EventDatabase
from headgate.events.fanout import FanoutEventHandler
from headgate.events.kubernetes import KubernetesEventHandler
from headgate.events.log import LogEventHandler
from headgate.events.merging import MergingEventHandler
from headgate.events.queued import QueuedEventHandler
from headgate.events.retention import expire
from headgate.events.sql import SqlEventHandler
from headgate.events.webhook import Receiver, WebhookEventHandler
from headgate.options.events import EventOptions
from headgate.ports import EventHandler

Connect = Callable[[str], Engine]
"""Makes an engine of a database URL, with whatever time limits and drivers go with it."""
Factory = Callable[[], EventHandler]
"""Makes a plugin's handler; its own options are bound already."""
_NONE: Mapping[str, Factory] = MappingProxyType({})

_NO_URL = "events.sql.url: not a database URL. Hint: write one like sqlite:///headgate-events.db"
_EXTRAS = "pip install headgate[postgresql], or headgate[mysql]"

LOG, SQL, WEBHOOK, KUBERNETES = "log", "sql", "webhook", "kubernetes"
_BUILT_IN = (LOG, SQL, WEBHOOK, KUBERNETES)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventService:
    """The handlers that were chosen, as one, and what they need besides."""

    handler: EventHandler
    databases: tuple[EventDatabase, ...] = ()
    _open: ExitStack = field(default_factory=ExitStack)

    def expire(self, before: datetime) -> None:
        """
        Delete kept events whose last repetition is older than `before`.

        Raises:
            UnreachableError: a database did not answer.
            PermanentError: a database said something that waiting does not cure.
        """
        for database in self.databases:
            expire(database, before)

    def close(self) -> None:
        """Deliver what waits, for some seconds at most, then end all threads and connections."""
        self._open.close()


def open_events(options: EventOptions, connect: Connect, plugins: Mapping[str, Factory] = _NONE) -> EventService:
    """
    Make the handlers that the options name.

    Each merges repetitions on its own. All but the log are called from a thread of their own: what they wait for holds
    up neither the cycle nor each other.

    Args:
        options: those under `events`.
        connect: opens the database of `sql`.
        plugins: handlers that are registered under other names.

    Raises:
        ConfigError: a name that nobody has, a secret that cannot be resolved, a URL that is none, a missing driver.
    """
    unknown = [name for name in options.handlers if name not in {*_BUILT_IN, *plugins}]
    if unknown:
        known = ", ".join((*_BUILT_IN, *plugins))
        raise ConfigError([f"events.handlers: found {name!r}, expected some of {known}" for name in unknown])
    with ExitStack() as stack:
        databases = (open_database(options, connect),) if SQL in options.handlers else ()
        for database in databases:
            stack.callback(database.close)
        handlers = [_open(name, options, databases, plugins, stack) for name in dict.fromkeys(options.handlers)]
        return EventService(handler=FanoutEventHandler(handlers), databases=databases, _open=stack.pop_all())


def open_database(options: EventOptions, connect: Connect) -> EventDatabase:
    """
    Give the database that the options name; it is not contacted yet.

    Raises:
        ConfigError: a secret that cannot be resolved, a URL that is none, or a missing driver.
    """
    try:
        return EventDatabase(connect(resolve(options.sql.url)))
    except (exc.ArgumentError, exc.NoSuchModuleError) as error:
        # The text itself is not shown: it may hold a password where nobody looks for one.
        raise ConfigError([_NO_URL]) from error
    except ImportError as error:
        fault = f"events.sql.url: the database driver {error.name} is missing. Hint: {_EXTRAS}"
        raise ConfigError([fault]) from error
    except ValueError as error:
        raise ConfigError([f"events.sql.url: {error}"]) from error


def _open(
    name: str,
    options: EventOptions,
    databases: Sequence[EventDatabase],
    plugins: Mapping[str, Factory],
    stack: ExitStack,
) -> EventHandler:
    if name == LOG:
        return MergingEventHandler(LogEventHandler())
    made = _made(name, options, databases, plugins)
    if isinstance(made, KubernetesEventHandler | WebhookEventHandler):
        stack.callback(made.close)
    queued = QueuedEventHandler(made, capacity=options.queue_capacity, give_up_after=options.give_up_after)
    stack.callback(queued.close)
    return queued if _merges(made) else MergingEventHandler(queued)


def _made(
    name: str, options: EventOptions, databases: Sequence[EventDatabase], plugins: Mapping[str, Factory]
) -> EventHandler:
    if name == SQL:
        return SqlEventHandler(databases[0])
    if name == WEBHOOK:
        return WebhookEventHandler(Receiver.of(options.webhook))
    if name == KUBERNETES:
        return KubernetesEventHandler(options.kubernetes)
    return plugins[name]()


def _merges(handler: Any) -> bool:
    """Tell whether a handler merges repetitions by itself, as it says in its attribute `merges`."""
    return bool(getattr(handler, "merges", False))
