"""Looking after Headgate's own options before each cycle, and telling what became of a change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from headgate.config.reload import LiveOptions, Reload
from headgate.control import reports
from headgate.model.events import Event, EventReason, EventType
from headgate.ports import EventHandler

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloading:
    """Something to await before each cycle: afterwards the options are those of the file, or there was an event."""

    live: LiveOptions
    events: EventHandler
    clock: Clock = lambda: datetime.now(UTC)
    """A file's age is counted by the machine's clock, not by the tick's name."""

    async def __call__(self, at: datetime) -> None:
        """Take over what the file says, and tell of it; never raises."""
        try:
            reload = await asyncio.to_thread(self.live.refresh, self.clock())
        except Exception as error:  # noqa: BLE001 - no cycle is lost over a file
            why = str(error) or type(error).__name__
            self.events.handle(reports.fleet_error("the options could not be reloaded", why, at))
            return
        if reload is not None:
            self.events.handle(reload_report(reload, at))


def reload_report(reload: Reload, at: datetime) -> Event:
    """Say what became of a changed file: all faults, or all that changed and all that has to wait, in one event."""
    parts = _of_refusal(reload) if reload.faults else _of_success(reload)
    return Event(
        at=at,
        type=EventType.WARNING if reload.faults or reload.needs_restart else EventType.NORMAL,
        reason=EventReason.OPTIONS_REFUSED if reload.faults else EventReason.OPTIONS_RELOADED,
        message="; ".join(parts),
        key=f"headgate:options:{at.isoformat()}",
        subject="headgate",
        fields={
            "changed": len(reload.changed),
            "needs_restart": len(reload.needs_restart),
            "faults": len(reload.faults),
        },
    )


def _of_refusal(reload: Reload) -> list[str]:
    heading = "the changed file is refused, and what held before still holds"
    return [heading, *reload.faults, *_waiting(reload)]


def _of_success(reload: Reload) -> list[str]:
    changed = ", ".join(reload.changed) or "no option that can change while running"
    return [f"changed: {changed}", *_waiting(reload), *reload.warnings]


def _waiting(reload: Reload) -> list[str]:
    return [f"needs a restart: {', '.join(reload.needs_restart)}"] if reload.needs_restart else []
