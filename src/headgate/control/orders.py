"""
What people have ordered, as it holds in a cycle: read once in each, and remembered while the store does not answer.

A pause is never forgotten because the store is down, and none is missed at the start: until it has answered once
nothing is decided.
"""

from __future__ import annotations

import getpass
import socket
from collections.abc import Collection, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from threading import Lock

from headgate.config.jobs import JobSettings
from headgate.config.ordered import SOURCE, Overlay
from headgate.control.threads import in_threads
from headgate.errors import HeadgateError
from headgate.model.identity import JobKey
from headgate.model.orders import NO_ORDERS, Given, Orders, StandingOrders
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.live import Live, in_force
from headgate.ports import JobContext, StateStore


def whoever() -> str:
    """Give who runs this process, as in `alice@laptop`."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user need not have a name
        user = "somebody"
    return f"{user}@{socket.gethostname()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Laid:
    """A job's options under ordered ones: the same ones give the same object, for another one is laid out anew."""

    base: AutoscalerOptions
    ordered: Mapping[str, str]
    settings: JobSettings

    def is_of(self, base: AutoscalerOptions, ordered: Mapping[str, str]) -> bool:
        """Tell whether it was made of these; options that were read anew are other objects of the same value."""
        return self.ordered == ordered and (self.base is base or self.base == base)


@dataclass(slots=True, kw_only=True)
class OrderBook:
    """The orders that hold now; read by one cycle at a time, asked by anybody."""

    store: StateStore
    threads: Executor | None = None
    """Where it is asked; None: in those of the event loop."""
    overlay: Live[Overlay] = field(default_factory=Overlay)
    standing: StandingOrders | None = field(default=None, init=False)
    """As they were last read; None before the first answer."""
    _laid: dict[JobKey, _Laid] = field(default_factory=dict, init=False)
    _latest: _Laid | None = field(default=None, init=False)
    """Most likely what the next job needs too: options for all jobs are laid over the same ones of most of them."""
    _one_by_one: Lock = field(default_factory=Lock, init=False)
    """An answer from before a pause must not come after it and hide it."""

    async def read(self) -> str:
        """Read what is ordered; why that could not be read, else an empty text: then what was known before holds."""
        try:
            await in_threads(self.threads, self._read)
        except Exception as error:  # noqa: BLE001 - it is told, and no pause is forgotten, whatever failed here
            return str(error) or type(error).__name__
        return ""

    @property
    def are_all_paused(self) -> bool:
        """Tell whether nothing may be changed anywhere, as far as is known."""
        return self.standing is not None and self.standing.fleet.pause is not None

    def is_paused(self, job: JobKey) -> bool:
        """Tell whether nothing may be changed of a job, as far as is known."""
        return self.standing is not None and self.standing.pause_of(job) is not None

    def pause(self, job: JobKey, pause: Given | None) -> None:
        """
        Pause a job, or with None resume it, and know of it at once.

        Raises:
            UnreachableError: the store did not answer; it is not known whether it holds.
        """
        self.store.change_orders(job, lambda orders: replace(orders, pause=pause))
        self._read()

    def applied(self, ctx: JobContext) -> JobContext:
        """Give a job with what is ordered for it; the very same one where nothing is."""
        orders = self.standing.orders_of(ctx.key) if self.standing else NO_ORDERS
        if orders == NO_ORDERS:
            self._laid.pop(ctx.key, None)
            return ctx
        settings = self._settings(ctx, orders.options)
        return replace(ctx, orders=orders, options=settings.options)

    def faults_of(self, job: JobKey) -> tuple[str, ...]:
        """Give why ordered options of a job do not hold any more."""
        laid = self._laid.get(job)
        return laid.settings.faults if laid else ()

    def keep_only(self, jobs: Collection[JobKey]) -> None:
        """Let go of what was laid out for other jobs."""
        for job in self._laid.keys() - set(jobs):
            del self._laid[job]

    async def strike(self, job: JobKey, order: Given) -> None:
        """Strike an order to take a rescale back that was taken up; where that fails it is tried in the next cycle."""

        def struck(orders: Orders) -> Orders:
            return replace(orders, rollback=None) if orders.rollback == order else orders

        try:
            await in_threads(self.threads, self.store.change_orders, job, struck)
        except HeadgateError:
            return

    def _read(self) -> None:
        with self._one_by_one:
            self.standing = self.store.orders()

    def _settings(self, ctx: JobContext, ordered: Mapping[str, str]) -> JobSettings:
        if not ordered:
            self._laid.pop(ctx.key, None)
            return JobSettings(options=ctx.options)
        laid = self._laid.get(ctx.key)
        if laid is None or not laid.is_of(ctx.options, ordered):
            laid = self._latest
            # Which signals are declared for a job goes by its name.
            if laid is None or ctx.options.signals_in_force or not laid.is_of(ctx.options, ordered):
                laid = _Laid(base=ctx.options, ordered=ordered, settings=self._lay(ctx, ordered))
            self._laid[ctx.key] = self._latest = laid
        return laid.settings

    def _lay(self, ctx: JobContext, ordered: Mapping[str, str]) -> JobSettings:
        try:
            return in_force(self.overlay).laid(ctx.key, ctx.options, ordered)
        except Exception as error:  # noqa: BLE001 - one job's options are that job's event, whatever fails here
            fault = f"{SOURCE}: none of its options holds: {str(error) or type(error).__name__}"
            return JobSettings(options=ctx.options, faults=(fault,))
