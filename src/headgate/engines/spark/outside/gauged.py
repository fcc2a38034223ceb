"""One application without an event log, as its driver's own pages tell of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from math import isfinite
from urllib.parse import quote

from headgate.engines.flink.client import FlinkClient
from headgate.engines.spark.application import Executors
from headgate.engines.spark.names import topology_of, vertex_id
from headgate.engines.spark.outside.gauges import (
    DriverState,
    QueryGauges,
    read_executors,
    read_gauges,
    read_settings,
)
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import JobKey, VertexId
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobMeasure, Measure
from headgate.model.rollback import JobFailure
from headgate.model.samples import EngineSettings, JobSample, VertexSample
from headgate.model.topology import Topology

NEEDS_LOG = (
    "what batches cost is not learnt from a driver's gauges, so the application is only observed: scaling it needs an "
    "event log. Hint: set event-log-dir of its cluster"
)
_METRICS = "spark.sql.streaming.metricsEnabled"


class GaugedApplication:
    """
    An application under its id, asked for what it shows at this moment; the counterpart of `WatchedApplication`.

    Attributes:
        id: of this start of its driver.
    """

    def __init__(self, application: str, driver: FlinkClient, prefix: str) -> None:
        """
        Ask nothing yet.

        Args:
            application: its id.
            driver: asks its pages, or those of the master that passes requests on.
            prefix: of all paths.
        """
        self.id = application
        self._driver = driver
        self._prefix = prefix
        self._state: DriverState | None = None

    async def follow(self) -> None:
        """
        Look at what there is now.

        Raises:
            UnreachableError: the pages gave no usable answer, or hold no gauges of queries.
        """
        api = f"{self._prefix}/api/v1/applications/{quote(self.id, safe='')}"
        try:
            settings = await self._driver.get(f"{api}/environment", read_settings)
            executors, busy_ms = await self._driver.get(
                f"{api}/allexecutors", lambda answer: read_executors(answer, settings)
            )
            queries = await self._driver.get(f"{self._prefix}/metrics/json", read_gauges)
        except NotFoundError as error:
            message = (
                f"the driver of {self.id} cannot be asked: {error}. Hint: set driver to the address of its pages, or "
                "spark.ui.reverseProxy=true, or event-log-dir"
            )
            raise UnreachableError(message) from error
        if not queries and settings.get(_METRICS) != "true":
            message = f"the driver of {self.id} tells of no queries. Hint: the application needs {_METRICS}=true"
            raise UnreachableError(message)
        self._state = DriverState(executors=executors, busy_ms=busy_ms, queries=queries, settings=settings)

    @property
    def is_streaming(self) -> bool:
        """Whether a query of it is active."""
        return bool(self._state and self._state.queries)

    @property
    def executors(self) -> Executors:
        """
        Which executors there are.

        Raises:
            UnreachableError: its driver was not asked yet.
        """
        return self._known.executors

    def setting(self, key: str, default: str = "") -> str:
        """Give one of its own settings, by Spark's name."""
        return self._known.settings.get(key, default)

    def sample(self, job: JobKey, at: datetime) -> JobSample:
        """Give what was seen last: the rate of batches and how long they take, task time; never how far it lags."""
        state = self._known
        return JobSample(
            job=job,
            at=at,
            job_id=self.id,
            running_since=state.executors.changed_at,
            topology=self.topology(),
            vertices=dict(_vertices(state, at)),
            settings=EngineSettings(
                shared_workers=True, adaptive=True, slots_per_task_manager=state.executors.slots_each
            ),
            slots_total=state.executors.cores,
            slots_free=0,
            values={JobMeasure.STATE_SIZE: sum(query.state_bytes for query in state.queries.values())},
        )

    def topology(self) -> Topology:
        """Give the graph: one vertex a query, as its stages are not seen."""
        return topology_of(dict.fromkeys(self._known.queries, 1), self._known.executors.cores)

    def failures(self, _since: datetime) -> tuple[JobFailure, ...]:
        """Know of none: the pages do not tell."""
        return ()

    def forget(self) -> None:
        """Nothing was learnt."""

    @property
    def _known(self) -> DriverState:
        if self._state is None:
            message = f"the driver of {self.id} was not asked yet"
            raise UnreachableError(message)
        return self._state


def _vertices(state: DriverState, at: datetime) -> Iterator[tuple[VertexId, VertexSample]]:
    # Executors do not tell for which query their tasks ran.
    busy = {Measure.ACCUMULATED_BUSY_TIME: state.busy_ms} if len(state.queries) == 1 else {}
    for name, query in state.queries.items():
        yield vertex_id(name, 0), VertexSample(measured_at=at, epoch=0, values={**_values(query), **busy})


def _values(query: QueryGauges) -> Mapping[Measure, float]:
    told = {
        Measure.OBSERVED_TPR: query.processed_per_s,
        Measure.BATCH_DURATION: query.latency_ms,
        Measure.LAG_ORIGIN: float(LagOrigin.UNKNOWN),
    }
    return {measure: value for measure, value in told.items() if isfinite(value)}
