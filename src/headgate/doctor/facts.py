"""What a look brings home, of the machine, of Headgate's own places, of a cluster and of its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from headgate.algorithm.suitability import Facts as Suitability
from headgate.engines.flink.overview import Slots
from headgate.errors import HeadgateError
from headgate.model.samples import EngineSettings
from headgate.model.topology import Vertex
from headgate.ports import JobContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Something that was tried: what came of it, or why nothing did."""

    told: str = ""
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """This machine; None where something is not needed, or was not tried."""

    java: Tried | None = None
    pyspark: Tried | None = None
    session: Tried | None = None
    """A session of Spark that was really started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceFacts:
    """A directory that Headgate writes to."""

    path: Path
    exists: bool
    """Otherwise the nearest directory above it, in which it would be made, is what the rest is about."""
    writable: bool
    free_bytes: int | None
    """None where the file system does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningFacts:
    """An address that Headgate is to listen on."""

    key: str
    """The option."""
    address: str
    needed: bool
    """Whether the service does not start without it."""
    fault: str | None
    """Why nobody can listen there now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFacts:
    """Headgate's own places."""

    store: Tried
    log: PlaceFacts | Tried
    listening: tuple[ListeningFacts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A JobManager's clock beside ours."""

    ahead: timedelta
    """By how much it is ahead of ours; negative where it is behind."""
    doubt: timedelta
    """By how much that may be wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointFacts:
    """A job's checkpoints."""

    interval_s: float | None
    """None: they are off."""
    completed: int | None = None
    """Since it was submitted; None where the cluster does not tell."""
    failed: int = 0
    last_at: datetime | None = None
    """When the last one was completed, by the JobManager's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """A source, by its metrics."""

    name: str
    parallelism: int
    tells_lag: bool
    lag: float | None = None
    """Records that wait, as the connector says; None where it does not say it now."""
    partitions: int | None = None
    """None where its metrics name none."""
    kafka: bool = False
    brokers: Tried | None = None
    """What came of asking the brokers what it reads; None where none are declared for its job."""
    brokers_unknown: bool = False
    """Whether it reads Kafka and no brokers are declared for its job."""
    largest_fetch: float | None = None
    """Bytes of the largest fetch of a Kafka consumer in the last half minute; None where none is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """One job."""

    job: JobContext
    gone: str | None = None
    """Why it could not be looked at; nothing else is known then."""
    launch: bool = False
    """Whether the operator has declared what it is started from."""
    now: datetime | None = None
    """By the JobManager's clock."""
    running_since: datetime | None = None
    """None before it has run for the first time."""
    clock: Clock | None = None
    settings: EngineSettings = field(default_factory=EngineSettings)
    graph: tuple[Vertex, ...] = ()
    without_busy_time: tuple[str, ...] = ()
    """Vertices that do not count how long they are busy."""
    sources: tuple[SourceFacts, ...] = ()
    unread: tuple[str, ...] = ()
    """Sources whose metrics could not be asked for."""
    checkpoints: CheckpointFacts | None = None
    """None: they could not be asked about."""
    suitability: Suitability | None = None
    """For reactive mode, where it is the job's mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """One cluster."""

    name: str
    flink: bool = True
    """Whether it is a plain Flink cluster; others are asked for their jobs, and not looked into."""
    failure: HeadgateError | None = None
    """Why it could not be looked at; nothing else is known then."""
    listed: str | None = None
    """Why its jobs could not be listed."""
    answered_in: timedelta | None = None
    version: str | None = None
    workers: int | None = None
    slots: Slots | None = None
    config: Mapping[str, str] | None = None
    """The JobManager's own settings; None where it does not tell them."""
    staffed: bool = False
    """Whether Headgate adds workers."""
    prometheus: Tried | None = None
    """The server that scrapes it, where metrics are read there."""
    jobs: tuple[JobFacts, ...] = ()

    @property
    def on_demand(self) -> bool:
        """Whether workers are started when slots are missing: by Flink itself, or by Headgate."""
        target = (self.config or {}).get("execution.target", "")
        return self.staffed or target.startswith(("kubernetes-", "yarn-"))
