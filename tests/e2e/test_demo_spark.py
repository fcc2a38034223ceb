"""`headgate demo --spark` as a user runs it: a real standalone cluster, two lines in an application, nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.test_demo import left_behind, play

pytestmark = [pytest.mark.spark, pytest.mark.long]

SEED = "3"


def test_two_lines_let_executors_follow_the_load(tmp_path: Path) -> None:
    """Every phase reaches its optimum on a straight way; then everything is gone."""
    status, said = play(tmp_path, "--spark", "--seed", SEED)
    assert status == 0, said
    assert "import headgate" in said
    assert "PASSED" in said
    assert left_behind(tmp_path) == []
