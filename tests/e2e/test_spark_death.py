"""Spark's JVM is killed, or frozen, under a running service."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("spark_death_program.py")


@pytest.mark.spark
def test_evaluation_goes_on_after_the_jvm_was_killed_or_frozen(tmp_path: Path) -> None:
    """
    One cycle says that Spark did not answer; the next one has a new Spark and the same answer as before.

    Where the JVM answers nothing at all, the next one kills it first.
    """
    story = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path)], stdout=subprocess.PIPE, text=True, check=True, timeout=300
    )

    before, killed, after, *frozen = json.loads(story.stdout)
    assert before == after != "unreachable"
    assert killed == "unreachable"
    assert sorted(frozen) == sorted([before, "unreachable"])
