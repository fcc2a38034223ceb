"""The pipeline on a real standalone cluster, whose workers' Python has some libraries, but no Headgate."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark import test_evaluator as ticks
from tests.spark.standalone_program import Task

from headgate.config.other import OtherOptions
from headgate.engines.spark.local.cluster import StandaloneCluster
from headgate.replay.in_memory import replay_in_memory
from headgate.replay.redeciding import Alternative
from headgate.replay.redeploys import Redeploys
from headgate.replay.stretch import Stretch
from headgate.samplelog.reader import LogReader
from headgate.testing.bare_python import make_bare_python
from headgate.testing.recorded import RecordedService
from headgate.testing.simulated import STEADY, steadily
from headgate.testing.small_fleet import BROKEN, NAMES

pytestmark = pytest.mark.spark

PROGRAM = Path(__file__).with_name("standalone_program.py")
LIBRARIES = ("pyspark", "numpy", "pyarrow", "aiohttp", "stamina", "pydantic")
"""What of the service's own libraries a worker needs, for a replay and for collecting."""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Give a log with ten jobs to evaluate, and one of a job whose decisions are to be made again."""
    root = tmp_path_factory.mktemp("logs")
    story = list(ticks.story(jobs=10))
    ticks.in_log(root / "ticks", story)
    recorded = RecordedService(scenario=steadily(autoscaler=STEADY), root=root / "recorded")
    recorded.advance_to(timedelta(minutes=2))
    return Task(
        log=root / "ticks",
        interval=ticks.TICK,
        candidates=tuple(ticks.candidates(story)),
        now=ticks.NOW,
        recorded=recorded.root,
        stretch=Stretch(
            begin=recorded.decisions[0].at, until=recorded.now, longest_window=timedelta(minutes=15), pattern="*"
        ),
        alternative=Alternative(other=OtherOptions.read({}), redeploys=Redeploys()),
    )
