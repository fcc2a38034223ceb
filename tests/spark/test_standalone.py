"""The pipeline on a real standalone cluster, whose workers' Python has some libraries, but no Headgate."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark import test_evaluator as ticks

from headgate.config.other import OtherOptions
from headgate.engines.spark.local.cluster import StandaloneCluster
from headgate.pipeline.live import SparkEvaluator
from headgate.replay.in_memory import replay_in_memory
from headgate.replay.redeciding import Alternative
from headgate.replay.redeploys import Redeploys
from headgate.replay.stretch import Stretch
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.simulate import ServiceCurve, SimulatedJob, SimulatedVertex, steps
from headgate.testing.bare_python import make_bare_python
from headgate.testing.recorded import RecordedService
from headgate.testing.simulated import STEADY, steadily
from headgate.testing.small_fleet import BROKEN

pytestmark = pytest.mark.spark

STORY = list(ticks.story(jobs=10))
PROGRAM = Path(__file__).with_name("standalone_program.py")
LIBRARIES = ("pyspark", "numpy", "pyarrow", "aiohttp", "stamina", "pydantic")
"""What of the service's own libraries a worker needs, for a replay and for collecting."""


JOB = SimulatedJob(
    name="orders",
    vertices=(
        SimulatedVertex(name="source", curve=ServiceCurve(rate=1000.0), load=steps({0: 500.0, 30: 2000.0})),
        SimulatedVertex(name="sink", curve=ServiceCurve(rate=400.0), parallelism=2),
    ),
)
MINUTE = timedelta(minutes=1)

Told = Mapping[str, Any]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RecordedService:
    """Give a recorded run of one job that grows."""
    run = RecordedService(scenario=steadily(JOB, autoscaler=STEADY), root=tmp_path_factory.mktemp("recorded"))
    run.advance_to(MINUTE)
    return run


@pytest.fixture(scope="module")
def replay(recorded: RecordedService) -> tuple[Stretch, Alternative]:
    """Ask for the whole run, with the options that it had."""
    stretch = Stretch(begin=recorded.decisions[0].at, until=recorded.now, longest_window=15 * MINUTE, pattern="*")
    return stretch, Alternative(other=OtherOptions.read({}), redeploys=Redeploys())


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the log of ten jobs."""
    root = tmp_path_factory.mktemp("log")
    for samples in STORY:
        SampleLog(root).append(samples)
    return root


@pytest.fixture(scope="module")
def told(
    tmp_path_factory: pytest.TempPathFactory,
    log: Path,
    recorded: RecordedService,
    replay: tuple[Stretch, Alternative],
) -> Told:
    """Give what came of everything on a cluster of two workers."""
    place = tmp_path_factory.mktemp("standalone")
    task, answer = place / "task.pickle", place / "answer.json"
    asked = {"log": log, "interval": ticks.TICK, "candidates": ticks.candidates(STORY), "now": ticks.NOW}
    task.write_bytes(pickle.dumps({**asked, "recorded": recorded.root, "replay": replay}))
    python = make_bare_python(place / "python", *LIBRARIES)
    with StandaloneCluster(workers=2, directory=place / "cluster") as cluster:
        program = cluster.run(PROGRAM, cluster.master_url, str(python), str(task), str(answer))
        assert program.wait(timedelta(minutes=5)) == 0, program.last_words()
    found: Told = json.loads(answer.read_text(encoding="utf-8"))
    return found


def test_headgate_comes_to_the_workers_as_an_archive(told: Told) -> None:
    """Their Python has none before, and the one of the service after the session has begun."""
    assert told["headgate before"] == [""]
    (headgate,) = told["headgate after"]
    assert re.search(r"/headgate-[0-9a-f]{12}\.zip/headgate/__init__\.py$", headgate)


def test_a_tick_is_the_local_one(told: Told, spark: SparkSession, log: Path) -> None:
    """Byte for byte."""
    here = SparkEvaluator(spark, log, collect_interval=ticks.TICK).evaluate(ticks.candidates(STORY), ticks.NOW)
    assert told["tick"] == repr(dict(here))


def test_a_replay_is_the_one_in_process(
    told: Told, recorded: RecordedService, replay: tuple[Stretch, Alternative]
) -> None:
    """Every verdict, though the decisions are made again on the workers."""
    here = replay_in_memory(LogReader(recorded.root), *replay, lambda _done, _all: None)
    assert told["replay"] == sorted(map(repr, here))


def test_the_workers_collect_what_the_service_collects(told: Told) -> None:
    """Three clusters in three ticks, counters that begin anew among them, and one cluster that answers with errors."""
    for here, there in batched(told["collected"]):
        assert there == here
        failed = {job for job, seen in there.items() if not seen.startswith("JobSample(")}
        assert {job.partition("/")[0] for job in failed} == {BROKEN}
        assert len(there) - len(failed) == 8


def test_a_part_that_is_lost_costs_nobody_else(told: Told) -> None:
    """A process that dies, or that fails, takes its own task along, which is not done again; the other's is done."""
    assert told["lost"] == ["the Spark task was lost", "water"]
    assert told["failed"] == ["ZeroDivisionError: integer division or modulo by zero", "\0"]


def test_it_is_told_what_the_workers_lack(told: Told) -> None:
    """In one sentence that says what to do."""
    (why,) = told["lacking"]
    assert "the Python of Spark's workers has no prometheus_client. Hint: install it there" in why


def batched(seen: Sequence[Mapping[str, str]]) -> Iterator[tuple[Mapping[str, str], Mapping[str, str]]]:
    """Give what the service and what the workers saw, tick by tick."""
    return zip(seen[::2], seen[1::2], strict=True)
