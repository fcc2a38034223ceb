"""How a plugin that failed is told of."""

from __future__ import annotations

from datetime import datetime, timedelta

from headgate.errors import PluginError
from headgate.model.decision import Notice
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey


def plugin_failed(job: JobKey, error: PluginError, now: datetime, interval: timedelta) -> Event:
    """Say which plugin of which distribution failed, and that its job went without it; the same is one event."""
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.PLUGIN_FAILED,
        message=str(error),
        key=f"{job}:{_key(error)}",
        subject=job,
        fields=_fields(error),
        merge_interval=interval,
    )


def failure_noticed(error: PluginError) -> Notice:
    """Say the same while a decision is being made."""
    return Notice(
        reason=EventReason.PLUGIN_FAILED,
        type=EventType.WARNING,
        message=str(error),
        key=_key(error),
        fields=_fields(error),
    )


def _key(error: PluginError) -> str:
    return f"plugin:{error.distribution}:{error.plugin}:{error.what}"


def _fields(error: PluginError) -> dict[str, str | int | float]:
    return {"plugin": error.plugin, "distribution": error.distribution}
