"""Who may watch the service itself: its metrics and its health, served as long as it is open."""

from __future__ import annotations

from contextlib import AsyncExitStack

import structlog

from headgate.config.secrets import resolve
from headgate.errors import ConfigError
from headgate.options.serving import MetricsOptions
from headgate.telemetry.board import Board
from headgate.telemetry.server import Site, served
from headgate.telemetry.tap import Tap

_log = structlog.get_logger("headgate")


def open_telemetry(options: MetricsOptions, stack: AsyncExitStack) -> Tap:
    """
    Serve metrics and health until the stack is closed, and give what listens in for them.

    Where nobody has named an address, one that is in use is no fault: it may be that of another service here.

    Raises:
        ConfigError: the token cannot be had, or the address that was named cannot be listened on.
    """
    if not options.enabled:
        return Tap()
    board = Board()
    site = Site.over(board, token=_token(options), per_vertex=options.per_vertex)
    try:
        stack.enter_context(served(site, options.listen_on))
    except ConfigError as error:
        if options.address is not None:
            raise
        _log.warning("no metrics", message=f"neither metrics nor health are served: {error}")
        return Tap()
    return Tap(board=board)


def _token(options: MetricsOptions) -> str | None:
    if options.token is None:
        return None
    try:
        token = resolve(options.token)
    except ValueError as error:
        raise ConfigError([f"metrics.token: {error}"]) from error
    if not token.strip():
        raise ConfigError([f"metrics.token: {options.token} is empty"])
    return token
