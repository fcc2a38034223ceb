"""What of a cluster and a job changes with a restart of either only: asked every few minutes, believed in between."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.memory import JobMemory
from headgate.engines.flink.settings import Config, read_checkpoint_interval, read_config, settings_of
from headgate.engines.flink.shared import Kept, Shared
from headgate.engines.flink.workers import TaskManagerSize, read_size
from headgate.errors import HeadgateError, NotFoundError
from headgate.model.samples import EngineSettings

_AGE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of one cluster; None is not known."""

    config: Kept[Config] | None = None
    size: Kept[TaskManagerSize | None] | None = None


UNKNOWN = Standing()


class StandingSettings:
    """The settings of one cluster and of its jobs."""

    def __init__(self, client: FlinkClient, known: Standing = UNKNOWN) -> None:
        """Ask nothing yet, and go on with what is known."""
        self._client = client
        self._config: Shared[Config] = Shared(
            lambda: client.get("/jobmanager/config", read_config), _AGE, kept=known.config
        )
        self._size: Shared[TaskManagerSize | None] = Shared(
            lambda: client.get("/taskmanagers", read_size), _AGE, kept=known.size
        )

    @property
    def known(self) -> Standing:
        """What is known of the cluster."""
        return Standing(config=self._config.kept, size=self._size.kept)

    async def read(self, memory: JobMemory, *, adaptive: bool | None, at: datetime) -> EngineSettings:
        """
        Give the settings of a job; what cannot be had is as it was before, at first as Flink has it by default.

        Args:
            memory: what is remembered of the job; when it was asked is kept there.
            adaptive: what the job says of its own scheduler.
            at: the tick.
        """
        config, size = await asyncio.gather(self._config.get(at), self._size.get(at))
        if memory.settings_at is None or at - memory.settings_at >= _AGE:
            memory.settings_at = at
            memory.checkpoint_interval_s = await self._read_checkpoint_interval(memory)
        return settings_of(config, memory.checkpoint_interval_s, adaptive=adaptive, size=size)

    async def _read_checkpoint_interval(self, memory: JobMemory) -> float | None:
        try:
            return await self._client.get(f"/jobs/{memory.job_id}/checkpoints/config", read_checkpoint_interval)
        except NotFoundError:
            return None  # Flink's way to say that checkpoints are off
        except HeadgateError:
            return memory.checkpoint_interval_s
