"""The commands as a user types them: processes of their own against a fake Flink, judged by what they print."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.in_process import HeadgateInProcess
from typer.testing import CliRunner

from headgate.cli import app
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain
from headgate.testing.faults import Fault
from headgate.testing.process import HeadgateProcess

DECIDED = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a command left behind."""

    status: int
    out: str
    err: str


async def headgate(*arguments: str) -> Finished:
    """Run a command to its end; the fake Flink goes on answering."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "headgate",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return Finished(status=process.returncode, out=out.decode(), err=err.decode())


@pytest.fixture
async def flink() -> AsyncIterator[FakeFlink]:
    """Serve a job whose vertices get 1,500 records/s, of which each subtask does 1,000."""
    job = chain(job_id=f"{1:032x}", name="orders", vertices=3, rate=1_500, partitions=None)
    async with FakeFlink([job], wall_clock=True) as server:
        server.config["metrics.fetcher.update-interval"] = "500"
        yield server


def changes_asked(server: FakeFlink) -> list[str]:
    """Return the requests that were more than a look."""
    return [f"{each.method} {each.path}" for each in server.requests if each.method != "GET"]


async def test_advice_as_a_table_names_each_vertex_and_changes_nothing(flink: FakeFlink) -> None:
    """1,500 records/s at 70 % busy take 2.14 subtasks, so three, aligned to four; how sure that is stands below."""
    done = await headgate("advise", flink.url, "--for", "8 s")
    assert done.status == 0, done.err
    rows = [line.split() for line in done.out.splitlines() if line.startswith("stage-")]
    assert [row[:3] for row in rows] == [["stage-1", "1", "4"], ["stage-2", "1", "4"]]
    assert "local/orders: rescale" in done.out
    assert "confidence low" in done.out
    assert changes_asked(flink) == []


async def test_advice_as_json_is_for_machines(flink: FakeFlink) -> None:
    """Standard output is one JSON list, whatever progress is shown elsewhere and whatever has to be asked again."""
    flink.plant(Fault(path="/jobs/overview", status=503, times=1))
    done = await headgate("advise", flink.url, "--for", "8 s", "--json")
    assert done.status == 0, done.err
    (decision,) = json.loads(done.out)
    wanted = {proposal["name"]: proposal["wanted"] for proposal in decision["proposals"]}
    assert decision["outcome"] == "Rescale", decision["message"]
    assert decision["acts"] is False
    assert wanted["stage-1"] == wanted["stage-2"] == 4
    assert changes_asked(flink) == []


async def test_advice_on_a_cluster_that_does_not_answer_says_so() -> None:
    """Nobody listens at port 1: the complaint names address and failure, the status is 1, and nothing is advised."""
    done = await headgate("advise", "http://127.0.0.1:1", "--for", "4 s")
    assert done.status == 1
    assert "127.0.0.1:1" in done.err
    assert "error: no advice: cluster local does not answer" in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["127.0.0.1:8081"], "http"),
        (["http://127.0.0.1:1", "--for", "1 s"], "too short"),
        (["http://127.0.0.1:1", "--for", "30"], "not a duration"),
        (["http://127.0.0.1:1", "--utilization", "7"], "utilization"),
    ],
)
async def test_advice_refuses_what_makes_no_sense(arguments: list[str], complaint: str) -> None:
    """A wrong call ends with status 2 and one readable complaint, before anything is asked."""
    done = await headgate("advise", *arguments)
    assert done.status == 2
    assert complaint in done.err
    assert "Traceback" not in done.err


async def test_explain_tells_the_last_decision_with_its_numbers(flink: FakeFlink, tmp_path: Path) -> None:
    """The service decided in advice mode; another process reads why from its log."""
    options = {
        "clusters": [{"name": "lab", "url": flink.url}],
        "pipeline": "in-process",
        "collect.interval": "0.5 s",
        "decide.interval": "1 s",
        "job.autoscaler": {"metrics.window": "3 s", "stabilization.interval": "0 s"},
    }
    with HeadgateProcess(options, tmp_path) as service:
        await asyncio.to_thread(service.until, lambda: bool(service.lines("ScalingReport")), limit=DECIDED)
        assert await asyncio.to_thread(service.stop) == 0
    for name in ("lab/orders", "orders"):
        told = await headgate("explain", name, "--config", str(service.config))
        assert told.status == 0, told.err
        assert "stage-1" in told.out
        assert "1 -> 3" in told.out
        assert "Advice" in told.out

    as_json = await headgate("explain", "lab/orders", "--config", str(service.config), "--json")
    assert json.loads(as_json.out)["reason"] == "Advice"
    unknown = await headgate("explain", "lab/nobody", "--config", str(service.config))
    assert unknown.status == 1
    assert "lab/nobody" in unknown.err
    assert changes_asked(flink) == []


async def test_a_job_whose_brokers_are_not_known_says_so_at_first_sight(flink: FakeFlink, tmp_path: Path) -> None:
    """While it stabilizes: by one event, among all jobs, and where it is explained."""
    for job in flink.jobs.values():
        job.vertices[0].partitions = 8
    options = {
        "clusters": [{"name": "lab", "url": flink.url}],
        "pipeline": "in-process",
        "collect.interval": "0.5 s",
        "decide.interval": "1 s",
    }
    with HeadgateInProcess(options, tmp_path) as service:
        await asyncio.to_thread(service.until, lambda: len(service.lines("decision")) > 1, limit=DECIDED)
    told = [line["message"] for line in service.lines("OffsetsUnavailable")]
    assert told[0].startswith("lab/orders reads Kafka; its brokers are not known, ")
    assert len(told) == 1
    for words in (["jobs"], ["explain", "orders"]):
        done = await asyncio.to_thread(CliRunner().invoke, app, [*words, "--config", str(service.config)])
        assert told[0] in " ".join(done.output.split()), done.output


async def test_the_service_says_of_libraries_what_its_option_asks_for(flink: FakeFlink, tmp_path: Path) -> None:
    """From the start on: asyncio names its selector, which matters to nobody unless wanted."""
    options = {"clusters": [{"name": "lab", "url": flink.url}], "pipeline": "in-process"}
    with HeadgateProcess({**options, "logging.libraries.level": "DEBUG"}, tmp_path) as service:
        await asyncio.to_thread(service.until, lambda: bool(service.lines("started")), limit=DECIDED)
        assert "asyncio" in {line["logger"] for line in service.lines("library")}


def left_in(folder: Path) -> list[str]:
    """Name the files of a folder."""
    return sorted(path.name for path in folder.iterdir())


async def test_a_checked_configuration_can_be_read_by_a_machine(tmp_path: Path) -> None:
    """Each option in force with its value and where it is set."""
    config = tmp_path / "headgate.yaml"
    config.write_text("mode: act\nclusters: [{name: c, url: 'http://127.0.0.1:1'}]\n")
    done = await headgate("config", "check", "--config", str(config), "--json")
    assert done.status == 0, done.err
    mode = next(option for option in json.loads(done.out) if option["key"] == "mode")
    assert mode["value"] == "act"
    assert mode["origin"].endswith("headgate.yaml:1")


async def test_a_faulty_file_is_told_completely_and_nothing_runs(tmp_path: Path) -> None:
    """All faults at once, each with file, line, key and what was expected; the status is 2 and nothing is left."""
    config = tmp_path / "faulty.yaml"
    config.write_text(
        "clusters:\n"
        "  - name: lab\n"
        "mode: acting\n"
        "job.autoscaler:\n"
        "  utilization.target: 7\n"
        "  metrics.windows: 1 min\n"
        "collect.interval: soon\n",
        encoding="utf-8",
    )
    for command in (("run", "--json"), ("config", "check")):
        done = await headgate(*command, "--config", str(config))
        assert done.status == 2
        assert "5 faults in the configuration:" in done.err
        for line, key, expected in (
            (2, "clusters[0]", "url is missing, expected text"),
            (3, "mode", "expected one of advise, act"),
            (5, "job.autoscaler.utilization.target", "expected a number"),
            (6, "job.autoscaler.metrics.windows", "did you mean job.autoscaler.metrics.window?"),
            (7, "collect.interval", "expected a duration"),
        ):
            (told,) = (text for text in done.err.splitlines() if f"{config}:{line}: {key}: " in text)
            assert expected in told
    assert left_in(tmp_path) == ["faulty.yaml"]
