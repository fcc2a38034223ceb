"""`headgate demo --kafka` as a user runs it: the broker is killed once, nothing is decided wrongly, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.test_demo import left_behind, play
from tests.services.kafka import jars_or_skip

from headgate.engines.flink.local.java import find_java

pytestmark = [pytest.mark.flink, pytest.mark.long]
LIMIT_S = 600
"""A broker that comes back late, and a slow count, are the judge's business."""


@pytest.fixture(autouse=True)
def _jars() -> None:
    jars_or_skip(find_java())


def test_headgate_follows_the_load_of_topics_and_sits_out_an_outage(tmp_path: Path) -> None:
    """Every phase reaches its optimum, on the way up in one step; every record is there once; then all is gone."""
    status, said = play(tmp_path, "--kafka", "--seed", "random", limit_s=LIMIT_S)

    assert status == 0
    assert "PASSED" in said
    assert "InputCutOff" in said
    assert left_behind(tmp_path) == []


def test_the_judge_fails_a_dry_run(tmp_path: Path) -> None:
    """Headgate may only advise: one subtask is too few for the high load, and the judge says so."""
    status, said = play(tmp_path, "--kafka", "--seed", "1", "--dry-run", "--phase-seconds", "12", limit_s=LIMIT_S)

    assert status == 1
    assert "right for a dry run" in said
    assert left_behind(tmp_path) == []
