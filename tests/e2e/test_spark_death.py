"""Spark's JVM is killed under a running service."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("spark_death_program.py")


@pytest.mark.spark
def test_evaluation_goes_on_after_the_jvm_was_killed(tmp_path: Path) -> None:
    """One cycle says that Spark did not answer; the next one has a new Spark and the same answer as before."""
    story = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path)], stdout=subprocess.PIPE, text=True, check=True, timeout=300
    )

    before, during, after = json.loads(story.stdout)
    assert before == after != "unreachable"
    assert during == "unreachable"
