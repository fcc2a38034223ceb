"""The load source on a real cluster: exactly the rows of its profile, a few at a time, and again from where it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.spark_streaming.application import PATIENCE, PROGRAMS

from headgate.engines.spark.local.cluster import StandaloneCluster
from headgate.engines.spark.source.load import value_of
from headgate.engines.spark.source.offsets import heads, share

ROWS, MOST_ROWS = 2000, 450
ENDS = heads(ROWS, share(4, 1.0))


@pytest.mark.long
def test_a_load_is_read_once_over_a_restart(cluster: StandaloneCluster, directory: Path) -> None:
    """2000 rows wait: each batch takes 450 of them at most, tells how many wait, and the second run takes the rest."""
    start = datetime.now(UTC) - timedelta(minutes=1)
    application = cluster.run(PROGRAMS / "replay.py", str(directory), start.isoformat(), str(MOST_ROWS))
    assert application.wait(PATIENCE) == 0, application.last_words()
    seen = json.loads((directory / "seen.json").read_text())

    expected = [[number, offset, value_of(number, offset)] for number, end in enumerate(ENDS) for offset in range(end)]
    assert sorted(seen["rows"]) == expected
    batches = seen["first"] + seen["second"]
    assert [rows for rows, _, _ in batches] == [450, 450, 450, 450, sum(ENDS) - 4 * 450]
    assert seen["first"]
    assert seen["second"]
    latest = {str(number): end for number, end in enumerate(ENDS)}
    # One that was planned before the restart is read again as it was planned: nothing is asked of the source.
    told = [heads for _, _, heads in batches]
    assert {json.dumps(heads) for heads in told if heads} == {json.dumps(latest)}
    assert told.count(None) <= 1
    assert [sum(ends.values()) for _, ends, _ in batches] == [450, 900, 1350, 1800, sum(ENDS)]
