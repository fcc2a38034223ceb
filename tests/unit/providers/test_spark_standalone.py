"""Workers of a Spark master that are processes of this machine, here ones that only say what they are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from headgate.errors import RefusedError
from headgate.providers.folder import PREFIX, end_workers
from headgate.providers.processes import FOLDER
from headgate.providers.spark_standalone import SparkStandaloneProvider
from headgate.testing.fake_java import make_spark

MASTER = "spark://127.0.0.1:7077"


@pytest.fixture
def parameters(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """Give those of a provider; its workers end with the test."""
    (tmp_path / "workers").mkdir()
    yield {
        "directory": str(tmp_path / "workers"),
        "home": str(make_spark(tmp_path / "spark")),
        "master": MASTER,
        "patience": "50 ms",
    }
    end_workers(tmp_path / "workers" / FOLDER)


async def until(reached: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(30):
        while not reached():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)


def said(parameters: Mapping[str, str], number: int = 1) -> str:
    """Give what a worker has printed."""
    output = Path(parameters["directory"]) / "log" / f"{PREFIX}{number}.out"
    return output.read_text() if output.exists() else ""


async def test_a_worker_registers_with_the_master(parameters: Mapping[str, str]) -> None:
    """With its size, on loopback as the master is, and ready to be decommissioned."""
    await SparkStandaloneProvider({**parameters, "cores": "2", "memory": "700m"}).request(1)
    await until(lambda: said(parameters).endswith("\n"))
    words = said(parameters)
    assert "-Dspark.decommission.enabled=true" in words
    assert "org.apache.spark.deploy.worker.Worker --host 127.0.0.1" in words
    assert "--cores 2 --memory 700m" in words
    assert words.endswith(f"{MASTER}\n")


async def test_a_master_elsewhere_is_reached_from_an_address_that_spark_finds(parameters: Mapping[str, str]) -> None:
    """Nobody could reach a worker that listens on loopback."""
    await SparkStandaloneProvider({**parameters, "master": "spark://streams:7077"}).request(1)
    await until(lambda: said(parameters).endswith("\n"))
    assert "--host" not in said(parameters)


async def test_one_that_goes_is_decommissioned_first(parameters: Mapping[str, str]) -> None:
    """It does not end by that, so a later call ends it; it counts no more from when it was asked."""
    provider = SparkStandaloneProvider(parameters)
    await provider.request(1)
    await until(lambda: said(parameters).endswith("\n"))
    await provider.request(0)
    await until(lambda: "decommissioned" in said(parameters))
    assert (await provider.workers()).ready == 0
    await _until_ended(provider, Path(parameters["directory"]))


async def test_one_that_does_not_end_is_killed(parameters: Mapping[str, str]) -> None:
    """Once it has been asked twice."""
    provider = SparkStandaloneProvider({**parameters, "master": "spark://stubborn:7077"})
    await provider.request(1)
    await until(lambda: said(parameters).endswith("\n"))
    await provider.request(0)
    await _until_ended(provider, Path(parameters["directory"]))


async def _until_ended(provider: SparkStandaloneProvider, directory: Path) -> None:
    async with asyncio.timeout(30):
        while list((directory / FOLDER).glob("*.pid")):
            await provider.workers()


async def test_a_signal_that_was_never_sent_is_sent_later(parameters: Mapping[str, str]) -> None:
    """Headgate died between the note and the signal: the next call sends the first of the row, not the last."""
    provider = SparkStandaloneProvider({**parameters, "patience": "1 h"})
    await provider.request(1)
    await until(lambda: said(parameters).endswith("\n"))
    record = Path(parameters["directory"]) / FOLDER / f"{PREFIX}1.json"
    record.write_text(json.dumps({"settings": {}, "ending-since": 1.0, "asked": 0}))
    await provider.workers()
    await until(lambda: "decommissioned" in said(parameters))
    assert json.loads(record.read_text())["asked"] == 1


async def test_workers_get_none_of_headgates_secrets(
    parameters: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a Worker needs and what the operator names is passed on; executors run anybody's code."""
    for name in ("HEADGATE_TOKEN", "SPARK_RPC_SECRET", "SPARK_LOCAL_DIRS", "LC_ALL", "MINE", "PATH"):
        monkeypatch.setenv(name, "/bin:/usr/bin" if name == "PATH" else "set")
    program = tmp_path / "spark" / "bin" / "spark-class"
    program.write_text("#!/bin/sh\nenv\necho end\nexec sleep 600\n")
    await SparkStandaloneProvider({**parameters, "pass-env": "MINE, OTHER"}).request(1)
    await until(lambda: said(parameters).endswith("end\n"))
    names = {line.partition("=")[0] for line in said(parameters).splitlines()}
    assert {"SPARK_LOCAL_DIRS", "LC_ALL", "MINE", "PATH", "SPARK_HOME"} <= names
    assert not names & {"HEADGATE_TOKEN", "SPARK_RPC_SECRET", "OTHER"}


async def test_a_home_without_spark_is_refused(parameters: Mapping[str, str], tmp_path: Path) -> None:
    """With the program that is missing, and nothing is started."""
    provider = SparkStandaloneProvider({**parameters, "home": str(tmp_path)})
    with pytest.raises(RefusedError, match=r"there is no .*spark-class"):
        await provider.request(1)
    assert (await provider.workers()).ready == 0


@pytest.mark.parametrize(
    ("wrong", "said_of_it"),
    [
        ({"master": "http://streams:8080"}, "spark://"),
        ({"master": ""}, "master is missing"),
        ({"cores": "none"}, "above zero"),
        ({"cores": "0"}, "above zero"),
        ({"color": "red"}, "unknown parameter color"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    parameters: Mapping[str, str], wrong: Mapping[str, str], said_of_it: str
) -> None:
    """Before anything is started."""
    with pytest.raises(ValueError, match=said_of_it):
        SparkStandaloneProvider({**parameters, **wrong})
