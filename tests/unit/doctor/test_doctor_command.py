"""`headgate doctor`: for people and machines, with a file or addresses, and what becomes of a faulty file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.cli import app
from headgate.testing.examined import Patient
from headgate.testing.fake_java import make_java


async def doctor(*arguments: object) -> Result:
    """Run the command while the server goes on answering."""
    return await asyncio.to_thread(CliRunner().invoke, app, ["doctor", *map(str, arguments)])


def write(path: Path, url: str, *lines: str) -> Path:
    """Write a service's file that needs no Java."""
    first = (f"clusters: [{{name: local, url: '{url}'}}]", "pipeline: in-process", "metrics.enabled: false")
    path.write_text("\n".join([*first, *lines]))
    return path


async def test_people_read_what_was_seen_and_what_to_do(patient: Patient, tmp_path: Path) -> None:
    """A warning fails nothing; the counts stand at the end."""
    patient.job.checkpoint_interval_ms = None
    done = await doctor("-c", write(tmp_path / "headgate.yaml", patient.server.url))
    assert done.exit_code == 0, done.output
    assert "local/orders" in done.output
    assert "they are off" in done.output
    assert "-> set `execution.checkpointing.interval`" in done.output
    assert "reads Kafka; its brokers are not known" in done.output
    assert done.output.splitlines()[-1].endswith("2 warnings")


async def test_machines_get_every_finding_with_all_its_parts(patient: Patient, tmp_path: Path) -> None:
    """A failure is an exit status of 1."""
    patient.job.checkpoint_interval_ms = None
    done = await doctor("-c", write(tmp_path / "headgate.yaml", patient.server.url, "mode: act"), "--json")
    failed = [each for each in json.loads(done.stdout) if each["verdict"] == "failure"]
    assert done.exit_code == 1
    assert [(each["about"], each["check"]) for each in failed] == [("local/orders", "checkpoints")]
    assert set(failed[0]) == {"about", "check", "verdict", "seen", "why", "remedy"}


async def test_a_faulty_file_is_told_completely(tmp_path: Path) -> None:
    """Every fault is a failure of its own, with its line; no cluster is asked."""
    path = write(tmp_path / "headgate.yaml", "http://127.0.0.1:9", "mode: sometimes", "collect.interval: soon")
    done = await doctor("-c", path, "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert {each["about"] for each in found} == {str(path)}
    assert [each["seen"].startswith(f"{path}:{line}") for each, line in zip(found, (4, 5), strict=True)] == [True, True]


async def test_a_file_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    """It is the first thing that a newcomer lacks."""
    done = await doctor("-c", tmp_path / "headgate.yaml", "--json")
    (found,) = json.loads(done.stdout)
    assert done.exit_code == 1
    assert "headgate init" in found["remedy"]


async def test_an_address_is_enough(patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is examined with the defaults, which want Java and Spark."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "java")))
    done = await doctor(patient.server.url, "--json")
    found = {(each["about"], each["check"]): each for each in json.loads(done.stdout)}
    assert done.exit_code == 0, done.output
    assert found["this machine", "Java"]["seen"].startswith("Java 21 from JAVA_HOME")
    assert found["this machine", "Spark"]["seen"].startswith("PySpark ")
    assert found["local/orders", "checkpoints"]["verdict"] == "ok"


async def test_a_java_that_is_none_is_a_failure_with_two_ways_out(
    patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one, or no need for one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    done = await doctor(patient.server.url, "--json")
    (java,) = (each for each in json.loads(done.stdout) if each["check"] == "Java")
    assert done.exit_code == 1
    assert "JAVA_HOME" in java["remedy"]
    assert "in-process" in java["remedy"]


async def test_a_name_is_neither_markup_nor_an_order_to_the_terminal(patient: Patient, tmp_path: Path) -> None:
    """Whoever submits jobs names them, and their vertices."""
    patient.job.name = "a [/b]\x1b[2J\nc"
    patient.job.vertices[0].name = "Source: [/b]\x1b[2J"
    done = await doctor("-c", write(tmp_path / "headgate.yaml", patient.server.url))
    assert done.exit_code == 0, done.output
    assert r"local/a [/b]\x1b[2J\nc" in done.output
    assert "\x1b" not in done.output
