"""An application of one query whose batches begin and end, and the sampler that is told of them."""

from __future__ import annotations

from datetime import timedelta

from headgate.engines.spark.application import BegunBatch, Executors, RunningQuery
from headgate.engines.spark.offsets import Lag
from headgate.engines.spark.sampling import Sampler
from headgate.model.identity import JobKey, VertexId
from headgate.model.lag import LagOrigin
from headgate.model.measures import Measure
from headgate.model.micro_batch import MicroBatch, StageWork
from headgate.model.samples import JobSample, VertexSample
from headgate.testing.builders import START, at

JOB = JobKey("spark", "orders")
READ, SHUFFLE = VertexId("count.0"), VertexId("count.1")
INTERVAL = timedelta(seconds=10)


class Story:
    """A sampler, and an application of which one query is told."""

    def __init__(self) -> None:
        """Begin with two executors."""
        self.sampler = Sampler()
        self.executors = Executors(ids=("0", "1"), cores_each=1, changed_at=START)
        self.batches = 0
        self.run = "run-1"
        self.limit: int | None = None

    def begin(self, second: float, *, rows: int, lag: float = 7.0, after: int = 0) -> None:
        """Let the next batch begin at a second, or one that comes so many after it."""
        waiting = Lag(rows=lag, origin=LagOrigin.OFFSETS)
        begun = BegunBatch(batch_id=self.batches + after, at=at(second), rows=float(rows), lag=waiting)
        query = RunningQuery(query="count", run_id=self.run, started_at=START, waiting=False, begun=begun)
        self.sampler.hear([query])

    def batch(self, second: float, *, rows: int = 100, seconds: float = 2.0, tasks: tuple[int, ...] = (8,)) -> None:
        """Let a batch begin at a second, and end."""
        stages = tuple(StageWork(tasks=count, task_time=timedelta(milliseconds=10 * rows)) for count in tasks)
        batch = MicroBatch(
            query="count",
            run_id=self.run,
            batch_id=self.batches,
            started_at=at(second),
            duration=timedelta(seconds=seconds),
            rows=rows,
            cores=self.executors.cores,
            stages=stages,
            lag=7.0,
            lag_origin=LagOrigin.OFFSETS,
            interval=INTERVAL,
            limit=self.limit,
            state_bytes=500,
            phases={"addBatch": timedelta(seconds=seconds)},
        )
        self.batches += 1
        self.sampler.note(batch, self.executors)

    def executors_become(self, count: int, second: float) -> None:
        """Let executors come or go."""
        ids = tuple(str(number) for number in range(count))
        self.executors = Executors(ids=ids, cores_each=1, changed_at=at(second))

    def restart(self) -> None:
        """Start the query again from its checkpoint."""
        self.run = "run-2"

    def sample(self, second: float, *, waiting: bool = True) -> JobSample:
        """Take a sample."""
        query = RunningQuery(query="count", run_id=self.run, started_at=START, waiting=waiting)
        return self.sampler.sample(JOB, at(second), job_id="app-1", executors=self.executors, queries=[query])

    def vertex(self, second: float, *, waiting: bool = True) -> VertexSample:
        """Take a sample of the query's first stage."""
        return self.sample(second, waiting=waiting).vertices[READ]


def rows_per_s(before: VertexSample, after: VertexSample) -> float:
    """Give what a window would see."""
    grown = after.values[Measure.NUM_RECORDS_IN] - before.values[Measure.NUM_RECORDS_IN]
    return grown / (after.measured_at - before.measured_at).total_seconds()
