"""When the last checkpoint was: asked for those jobs alone that wait for one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headgate.engines.flink.checkpoints import read_completed, read_last_checkpoint
from headgate.engines.flink.client import FlinkClient
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions
from headgate.testing.builders import context
from headgate.testing.reacting import reactive

AT = datetime(2026, 1, 1, tzinfo=UTC)
ANSWER = {
    "counts": {"completed": 1},
    "latest": {"completed": {"id": 7, "latest_ack_timestamp": int(AT.timestamp() * 1000)}, "savepoint": None},
}
NOWHERE = ClusterOptions(name="prod", url="http://127.0.0.1:9", request_timeout=timedelta(milliseconds=200))


def test_the_latest_completed_one_counts() -> None:
    """None before the first."""
    assert read_completed(ANSWER) == AT
    assert read_completed({"latest": {"completed": None}}) is None


@pytest.mark.parametrize("options", [AutoscalerOptions(), reactive(), reactive(checkpoint_age=timedelta(seconds=5))])
async def test_what_is_not_known_is_none(options: AutoscalerOptions) -> None:
    """Of a job that does not wait for a checkpoint nobody asks; of another one the cluster may not answer."""
    async with FlinkClient(NOWHERE) as client:
        assert await read_last_checkpoint(client, context(options=options)) is None
