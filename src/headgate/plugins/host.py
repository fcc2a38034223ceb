"""The host: makes chosen plugins ready to be asked, Headgate's own here and those of others where they do no harm."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Lock
from types import MappingProxyType
from typing import Any, TypeVar

from headgate.errors import ConfigError, MisconfiguredPluginError, PluginError
from headgate.options.live import Live, in_force
from headgate.options.plugins import PluginOptions
from headgate.plugins.aside import ThreadedRealizer
from headgate.plugins.asking import Asking
from headgate.plugins.catalog import Catalog, Choice
from headgate.plugins.concealing import concealed
from headgate.plugins.hosted import HOSTED, HostedCollector
from headgate.plugins.kinds import Kind
from headgate.plugins.making import make, priority_of
from headgate.plugins.ready import Plugin
from headgate.plugins.registry import UnknownPluginError
from headgate.plugins.worker.process import WorkerProcess
from headgate.plugins.worker.requests import Recipe

T = TypeVar("T")

Provided = Mapping[tuple[Kind, str], Any]
"""Headgate's own plugins that stand already, by kind and registered name."""

_THREADS = 8
_FAILED_FOR_S = 60.0
"""How long what cannot be made is not made again: each attempt may cost its whole time limit."""
_NOTHING: Provided = MappingProxyType({})
NO_PARAMETERS: Mapping[str, str] = MappingProxyType({})


class PluginHost:
    """
    Everything that options may name, made when first used and kept.

    Of kinds that only answer, those of others run in two worker processes for each distribution, one for collectors and
    one for all else, so that the two cadences do not wait for each other. A realizer of others runs on a thread of its
    own. Everything else, and Headgate's own, runs where it is asked. Safe to use from several threads.
    """

    def __init__(
        self,
        catalog: Live[Catalog],
        limits: Live[PluginOptions],
        *,
        provided: Provided = _NOTHING,
        resolve: Callable[[str], str] = str,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Make nothing yet.

        Args:
            catalog: what names mean; one that changes makes an instance anew whose parameters did.
            limits: how long calls may take.
            provided: what stands already.
            resolve: replaces the secrets in a parameter.
            stopwatch: seconds on a clock that only goes on.
        """
        self._catalog = catalog
        self._limits = limits
        self._provided = provided
        self._resolve = resolve
        self._stopwatch = stopwatch
        self._failed: dict[tuple[Kind, str], tuple[Choice, PluginError, float]] = {}
        self._ready: dict[tuple[Kind, str], tuple[Choice, Plugin]] = {}
        self._lock = Lock()
        """Held for an instant. What takes time has a lock for each plugin, so that one that hangs holds up no other."""
        self._making: dict[tuple[Kind, str], Lock] = {}
        self._closed = False
        self._workers: dict[tuple[str, bool], WorkerProcess] = {}
        self._pools = {collects: ThreadPoolExecutor(_THREADS, "headgate-plugins") for collects in (True, False)}

    def ready(self, kind: Kind, name: str) -> Plugin:
        """
        Give a plugin ready to be asked; blocking where its worker process must be started first.

        Whoever asks while it is being made waits for that, and gets the same one, or the same failure.

        Raises:
            PluginError: there is none, it does not want its parameters, or it cannot be made.
        """
        choice = self._chosen(kind, name)
        if known := self._known(choice):
            return known
        with self._lock:
            making = self._making.setdefault((kind, name), Lock())
        with making:
            known = self._known(choice)
            if known is None:
                known = self._made_unless_failed(choice)
                self._ready[kind, name] = choice, known
        return known

    def known(self, kind: Kind, name: str) -> Plugin | None:
        """
        Give a plugin if it is ready already, without waiting for anything.

        Raises:
            PluginError: there is none.
        """
        return self._known(self._chosen(kind, name))

    def stands_for(self, kind: Kind, name: str) -> str | None:
        """Give the registered name of the plugin of Headgate's own that a name means; None: of others, or nothing."""
        with suppress(UnknownPluginError):
            found = in_force(self._catalog).find(kind, name).plugin
            return found.name if found.is_ours else None
        return None

    def chain(self, kind: Kind, names: Sequence[str]) -> tuple[tuple[Plugin, ...], tuple[PluginError, ...]]:
        """Give the plugins of a list by priority, those of equal ones in the order of the list; and those that fail."""
        found, failed = list[Plugin](), list[PluginError]()
        for name in dict.fromkeys(names):
            try:
                found.append(self.ready(kind, name))
            except PluginError as error:
                failed.append(error)
        return tuple(sorted(found, key=lambda plugin: plugin.priority)), tuple(failed)

    def made(self, kind: Kind, name: str, parameters: Mapping[str, str] = NO_PARAMETERS) -> Any:
        """
        Make a plugin that the operator chose, another one at each call.

        Args:
            kind: one that is not isolated.
            name: of a registered plugin, or of an instance.
            parameters: over those of the instance.

        Raises:
            ConfigError: there is none, it does not want its parameters, or it cannot be made.
        """
        return self.made_plugin(kind, name, parameters).port

    def made_plugin(self, kind: Kind, name: str, parameters: Mapping[str, str] = NO_PARAMETERS) -> Plugin:
        """
        Do as `made`, and give it with what tells of it.

        Raises:
            ConfigError: as there.
        """
        try:
            choice = self._chosen(kind, name)
            return self._made(replace(choice, parameters={**choice.parameters, **parameters}))
        except PluginError as error:
            raise ConfigError([str(error)]) from error

    def factories(self, kind: Kind) -> Mapping[str, Callable[[], Any]]:
        """Give what makes each plugin of a kind that is not built in, by the names that options may have."""
        catalog = in_force(self._catalog)
        names = (name for name in catalog.names(kind) if not catalog.is_built_in(kind, name))
        return {name: partial(self.made, kind, name) for name in names}

    async def aside(self, call: Callable[[], T], *, collects: bool = False) -> T:
        """Do what blocks in a thread of the host's own: a plugin that hangs takes none from Headgate's work."""
        return await asyncio.get_running_loop().run_in_executor(self._pools[collects], call)

    @property
    def pool(self) -> ThreadPoolExecutor:
        """The threads in which plugins are asked while jobs are evaluated and decided."""
        return self._pools[False]

    @property
    def budget(self) -> timedelta:
        """How long a step of a cycle waits for the plugins of all its jobs."""
        return in_force(self._limits).budget

    def overdue(self, chosen: Iterable[tuple[Kind, str | None]]) -> PluginError:
        """Say that plugins gave no answer within the budget."""
        names, distributions = dict[str, None](), dict[str, None]()
        for kind, name in chosen:
            names[str(name)] = None
            with suppress(PluginError):
                distributions[self._chosen(kind, str(name)).plugin.distribution] = None
        what = f"gave no answer within {self.budget.total_seconds():g} s, which is what a cycle has for plugins"
        return PluginError(", ".join(names), ", ".join(distributions) or "no distribution", what)

    def faults(self) -> Iterator[tuple[Kind, str, str]]:
        """Make every declared instance, and yield kind, name and what is wrong of those that cannot be made."""
        yield from ((kind, name, str(error)) for kind, name, error in self._unmade())

    def refusals(self) -> Iterator[str]:
        """
        Make every declared instance, and yield what is wrong of those that are no use to start with.

        What runs in a process of its own may fail for reasons that pass by: then it is told when jobs go without it.
        """
        for kind, _, error in self._unmade():
            if not kind.is_isolated or isinstance(error, MisconfiguredPluginError):
                yield str(error)

    def workers(self, distribution: str) -> tuple[int, ...]:
        """Give the process ids of a distribution's workers."""
        with self._lock:
            running = [worker.pid for (owner, _), worker in self._workers.items() if owner == distribution]
        return tuple(pid for pid in running if pid is not None)

    def close(self) -> None:
        """End all workers, and wait for nobody."""
        with self._lock:
            self._closed = True
            workers = list(self._workers.values())
        for worker in workers:
            worker.close()
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)

    def _unmade(self) -> Iterator[tuple[Kind, str, PluginError]]:
        for kind, name in in_force(self._catalog).declared():
            try:
                self.ready(kind, name)
            except PluginError as error:
                yield kind, name, error

    def _made_unless_failed(self, choice: Choice) -> Plugin:
        place = choice.plugin.kind, choice.name
        failed, known_error, at = self._failed.get(place, (None, None, 0.0))
        if known_error and failed == choice and self._stopwatch() - at < _FAILED_FOR_S:
            raise known_error
        try:
            return self._made(choice)
        except PluginError as error:
            self._failed[place] = choice, error, self._stopwatch()
            raise

    def _known(self, choice: Choice) -> Plugin | None:
        """Give what was made of the same choice; other parameters make another plugin."""
        made_of, plugin = self._ready.get((choice.plugin.kind, choice.name), (None, None))
        return plugin if made_of == choice else None

    def _chosen(self, kind: Kind, name: str) -> Choice:
        try:
            return in_force(self._catalog).find(kind, name)
        except UnknownPluginError as error:
            raise MisconfiguredPluginError(name, "no distribution", f"cannot be made: {error}") from error

    def _made(self, choice: Choice) -> Plugin:
        found, distribution = choice.plugin, choice.plugin.distribution
        if (found.kind, found.name) in self._provided and found.is_ours:
            return Plugin(name=choice.name, distribution=distribution, port=self._provided[found.kind, found.name])
        if found.kind.is_isolated and not found.is_ours:
            return self._isolated(choice, self._recipe(choice))
        try:
            port, priority = self._here(choice, self._recipe(choice))
        except MisconfiguredPluginError:
            raise
        except Exception as error:
            what = concealed(f"cannot be made: {type(error).__name__}: {error}", self._secrets(choice))
            refused = isinstance(error, ValueError)
            raise (MisconfiguredPluginError if refused else PluginError)(choice.name, distribution, what) from error
        return Plugin(
            name=choice.name,
            distribution=distribution,
            port=port,
            priority=priority,
            secrets=self._secrets(choice),
        )

    def _here(self, choice: Choice, recipe: Recipe) -> tuple[Any, int]:
        maker = partial(make, recipe.kind, recipe.target, recipe.mapping)
        if recipe.kind is Kind.SCALING_REALIZER and not choice.plugin.is_ours:
            limit = in_force(self._limits).realize_deadline
            distribution = choice.plugin.distribution
            named = Plugin(name=choice.name, distribution=distribution, port=None, secrets=self._secrets(choice))
            return ThreadedRealizer(maker, limit, named), 0
        port = maker()
        return port, priority_of(port)

    def _isolated(self, choice: Choice, recipe: Recipe) -> Plugin:
        limits = in_force(self._limits)
        asking = Asking(
            choice=choice,
            recipe=recipe,
            worker=self._worker(choice),
            limit=limits.deadline,
            start_limit=limits.start_deadline,
            secrets=self._secrets(choice),
        )
        priority = asking.prepare()
        if recipe.kind is Kind.METRIC_COLLECTOR:
            port: Any = HostedCollector(asking, partial(self.aside, collects=True))
        else:
            port = HOSTED[recipe.kind](asking)
        return Plugin(
            name=choice.name,
            distribution=choice.plugin.distribution,
            port=port,
            priority=priority,
            secrets=asking.secrets,
        )

    def _worker(self, choice: Choice) -> WorkerProcess:
        collects = choice.plugin.kind is Kind.METRIC_COLLECTOR
        with self._lock:
            worker = self._workers.setdefault((choice.plugin.distribution, collects), WorkerProcess())
            if self._closed:
                worker.close()
        return worker

    def _secrets(self, choice: Choice) -> tuple[str, ...]:
        """Give the parameters that are not what is written: secrets that were looked up."""
        pairs = zip(sorted(choice.parameters.items()), self._recipe(choice).parameters, strict=True)
        return tuple(resolved for (_, written), (_, resolved) in pairs if resolved != written)

    def _recipe(self, choice: Choice) -> Recipe:
        found = choice.plugin
        try:
            parameters = tuple((key, self._resolve(text)) for key, text in sorted(choice.parameters.items()))
        except ValueError as error:
            raise MisconfiguredPluginError(choice.name, found.distribution, f"cannot be made: {error}") from error
        return Recipe(kind=found.kind, target=found.target, parameters=parameters)
