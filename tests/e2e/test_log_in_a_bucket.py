"""A real service whose log is in a real object store, which goes away for a while; other commands find what it kept."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.services import object_store, spark_jars
from tests.services.object_store import ObjectStore

from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain
from headgate.testing.process import HeadgateProcess, Line

PATIENCE = timedelta(minutes=3)


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    """Run a store of our own."""
    spark_jars.need("spark-s3a")
    with object_store.running() as store:
        yield store


async def told(service: HeadgateProcess, *arguments: str) -> Any:
    """Let another command answer, by the service's file, in JSON."""
    command = [sys.executable, "-m", "headgate", *arguments, "--config", str(service.config), "--json"]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return json.loads(out)


@pytest.mark.long
async def test_a_service_decides_over_a_bucket_and_survives_its_absence(store: ObjectStore, tmp_path: Path) -> None:
    """With secrets by reference and jars of one's own; no cycle decides on what was not kept."""
    log = store.log("service")
    async with FakeFlink([chain(job_id=f"{1:032x}", name="orders", vertices=3, rate=1_500)], wall_clock=True) as flink:
        flink.config["metrics.fetcher.update-interval"] = "500"
        keys = {"access": "AWS_ACCESS_KEY_ID", "secret": "AWS_SECRET_ACCESS_KEY"}
        options = {
            "clusters": [{"name": "lab", "url": flink.url}],
            "collect.interval": "1 s",
            "decide.interval": "2 s",
            "job.autoscaler": {"metrics.window": "10 s", "stabilization.interval": "0 s"},
            "log.path": log.path,
            "log.endpoint": log.endpoint,
            "metrics.enabled": False,
            "spark": {
                "master": "local[2]",
                "settings": {
                    **spark_jars.settings(),
                    **{f"spark.hadoop.fs.s3a.{name}.key": f"${{env:{variable}}}" for name, variable in keys.items()},
                },
            },
        }
        with HeadgateProcess(options, tmp_path) as service:

            async def until(reached: Callable[[], object]) -> None:
                await asyncio.to_thread(service.until, lambda: bool(reached()), limit=PATIENCE)

            await until(lambda: advised(service))
            store.stop()
            # A decision is told where it is another one than before: so this one is, and the one after it.
            await until(lambda: undecided(service))
            assert complaints(service)
            before = len(advised(service))
            store.start()
            await until(lambda: len(advised(service)) > before)

        assert (await told(service, "jobs"))["job"] == "lab/orders"
        replayed = await told(service, "replay", "--since", "10 min")
        assert replayed["different"] == 0
        assert replayed["equal"] > 0


def advised(service: HeadgateProcess) -> list[Line]:
    """Give the decisions that ask for more."""
    return [line for line in service.lines("decision") if line["outcome"] == "Rescale"]


def undecided(service: HeadgateProcess) -> list[Line]:
    """Give the decisions that could not be made."""
    return [line for line in service.lines("decision") if line["reason"] == "CycleFailed"]


def complaints(service: HeadgateProcess) -> list[Line]:
    """Give what the service said of a log that does not answer."""
    return [line for line in service.lines("AutoscalerError") if "samples log" in str(line)]
