"""The state of a query is spread over more and fewer partitions, and a difference takes everything back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.spark_streaming.application import PATIENCE, PROGRAMS
from tests.spark_streaming.test_levers import ROCKS_DB

from headgate.engines.spark.local.cluster import StandaloneCluster


@pytest.mark.long
def test_state_is_spread_anew_or_left_as_it_was(cluster: StandaloneCluster, directory: Path) -> None:
    """4 partitions become 8 and then 2; a try that loses a row leaves 2, and every row is counted once in the end."""
    application = cluster.run(PROGRAMS / "repartitioning.py", str(directory), conf=ROCKS_DB)
    assert application.wait(PATIENCE) == 0, application.last_words()

    seen: Mapping[str, Any] = json.loads((directory / "seen.json").read_text(encoding="utf-8"))
    *sound, spoilt = seen["failures"]
    assert sound == ["", ""]
    assert "1000 rows before, 999 after" in spoilt
    assert seen["partitions"] == [4, 8, 2, 2]
    assert seen["left"] == ["checkpoint"]
    assert seen["counted"] == seen["rows"]
