"""Asking a plugin in its worker process: the call goes there, an answer of the promised type or an error comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from headgate.errors import (
    ConflictError,
    HeadgateError,
    MisconfiguredPluginError,
    NotFoundError,
    PermanentError,
    PluginError,
    RefusedError,
    TransientError,
    UnreachableError,
)
from headgate.plugins.catalog import Choice
from headgate.plugins.concealing import concealed
from headgate.plugins.worker.process import WorkerError, WorkerProcess
from headgate.plugins.worker.requests import ANSWERED, RAISED, Recipe, Request
from headgate.plugins.worker.wire import promised_by, unpacked

_CONTRACTUAL: Mapping[str, type[HeadgateError]] = {
    error.__name__: error
    for error in (TransientError, UnreachableError, ConflictError, PermanentError, NotFoundError, RefusedError)
}
"""Errors that ports speak of: they come through as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One plugin in a worker process."""

    choice: Choice
    recipe: Recipe
    worker: WorkerProcess
    limit: timedelta
    start_limit: timedelta
    secrets: tuple[str, ...] = ()
    """What must not be told of it."""

    def prepare(self) -> int:
        """
        Make the plugin there, and give its priority.

        Raises:
            MisconfiguredPluginError: it does not want its parameters.
            PluginError: it cannot be made.
        """
        request = Request(recipe=self.recipe, method=None, seconds=self.start_limit.total_seconds())
        try:
            priority: int = self._answer(request, int)
        except HeadgateError as error:
            why = f"cannot be made: it {error.what if isinstance(error, PluginError) else error}"
            refused = isinstance(error, MisconfiguredPluginError)
            raise self._failure(why, MisconfiguredPluginError if refused else PluginError) from error
        return priority

    def ask(self, method: str, *arguments: Any) -> Any:
        """
        Call a method of its port.

        Raises:
            PluginError: it raised, hung, died or gave something else than its port promises.
            HeadgateError: one that it raised itself.
        """
        seconds = self.limit.total_seconds()
        request = Request(recipe=self.recipe, method=method, arguments=arguments, seconds=seconds)
        return self._answer(request, promised_by(self.recipe.kind.port, method))

    def _answer(self, request: Request, promised: Any) -> Any:
        try:
            reply = self.worker.ask(request, start_seconds=self.start_limit.total_seconds())
        except WorkerError as error:
            raise self._failure(str(error)) from error
        if reply.startswith(RAISED.encode()):
            name, text = json.loads(reply.removeprefix(RAISED.encode()))
            raise self._raised(name, text, is_made=request.method is not None)
        try:
            return unpacked(promised, reply.removeprefix(ANSWERED.encode()))
        except (ValueError, TypeError) as error:
            why = f"gave something else than {request.method} promises: {error}"
            raise self._failure(why) from error

    def _raised(self, name: str, text: str, *, is_made: bool = True) -> HeadgateError:
        told_as_it_is = _CONTRACTUAL.get(name)
        if told_as_it_is:
            return told_as_it_is(concealed(text, self.secrets))
        is_refusal = name == ValueError.__name__ and not is_made
        return self._failure(f"raised {name}: {text}", MisconfiguredPluginError if is_refusal else PluginError)

    def _failure(self, what: str, of: type[PluginError] = PluginError) -> PluginError:
        return of(self.choice.name, self.choice.plugin.distribution, concealed(what, self.secrets))
