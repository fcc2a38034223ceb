"""
Collecting from Flink clusters in another process: what is asked for goes there as bytes, and comes back as bytes.

What a collector remembers between two samples travels with it, so that any process may go on with any job.
"""

from __future__ import annotations

import asyncio
import pickle
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.memory import JobMemory
from headgate.engines.flink.standing import UNKNOWN, Standing
from headgate.errors import HeadgateError, NotFoundError
from headgate.model.samples import JobSample
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext

T = TypeVar("T")

_FAST = 1
"""How hard the compression tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What is to be collected from one cluster at one tick."""

    cluster: ClusterOptions
    """Secrets as they are written: they are resolved where the cluster is asked."""
    at: datetime
    time_limit: timedelta
    """For the sample of one job."""
    jobs: tuple[JobContext, ...]
    memories: tuple[bytes | None, ...]
    """What is remembered of each of these jobs, packed; None at first."""
    standing: Standing = UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no sample of a job."""

    why: str
    gone: bool
    """Whether the job does not exist any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """What came of an errand, for each of its jobs in their order."""

    samples: tuple[JobSample | Failure, ...]
    memories: tuple[bytes | None, ...]
    standing: Standing


def run_errands(packed: Sequence[bytes]) -> list[bytes]:
    """Collect from several clusters at once, each `Errand` giving a `Yield`, both packed."""
    return asyncio.run(_run_all([unpack(each, Errand) for each in packed]))


def pack(value: object) -> bytes:
    """Give a value as bytes."""
    return zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), _FAST)


def unpack(packed: bytes, kind: type[T]) -> T:
    """
    Give what was packed; only for what another process of this same service has packed.

    Raises:
        TypeError: it is something else.
    """
    value = pickle.loads(zlib.decompress(packed))  # noqa: S301 - Spark itself trusts its workers as much
    if not isinstance(value, kind):
        message = f"a {type(value).__name__} came instead of a {kind.__name__}"
        raise TypeError(message)
    return value


async def _run_all(errands: Sequence[Errand]) -> list[bytes]:
    return [pack(each) for each in await asyncio.gather(*map(run_errand, errands))]


async def run_errand(errand: Errand) -> Yield:
    """Collect from one cluster; never raises for what a job or the cluster does."""
    name = errand.cluster.name
    async with FlinkClient(errand.cluster) as client:
        collector = FlinkMetricCollector({name: client}, standing={name: errand.standing})
        for ctx, memory in zip(errand.jobs, errand.memories, strict=True):
            if memory is not None:
                collector.remember(ctx.key, unpack(memory, JobMemory))
        samples = await asyncio.gather(*(_sample(collector, ctx, errand) for ctx in errand.jobs))
        remembered = (collector.remembered(ctx.key) for ctx in errand.jobs)
        return Yield(
            samples=tuple(samples),
            memories=tuple(None if each is None else pack(each) for each in remembered),
            standing=collector.standing(name),
        )


async def _sample(collector: FlinkMetricCollector, ctx: JobContext, errand: Errand) -> JobSample | Failure:
    limit_s = errand.time_limit.total_seconds()
    try:
        async with asyncio.timeout(limit_s):
            return await collector.update_metrics(ctx, errand.at)
    except TimeoutError:
        return Failure(why=f"no sample within {limit_s:g} s", gone=False)
    except HeadgateError as error:
        return Failure(why=str(error), gone=isinstance(error, NotFoundError))
    except Exception as error:  # noqa: BLE001 - one job's failure is that job's, whatever it is
        return Failure(why=f"{type(error).__name__}: {error}", gone=False)
