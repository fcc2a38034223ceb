"""What looks after jobs of a Mill keeps Headgate's contracts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from headgate.errors import UnreachableError
from headgate.model.decision import ConfigChanges
from headgate.testing.conformance.job_list import JobListFetcherSuite
from headgate.testing.conformance.metric_collector import MetricCollectorSuite
from headgate.testing.conformance.scaling_realizer import ScalingRealizerSuite

from mill import Mill

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def mill(tmp_path: Path) -> Mill:
    """Give a Mill with one job."""
    (tmp_path / "mill").mkdir()
    return Mill(tmp_path / "mill")


class InMill:
    """In a Mill."""

    @pytest.fixture
    def stage(self, mill: Mill) -> Mill:
        """Give the Mill."""
        return mill


class TestJobList(InMill, JobListFetcherSuite):
    """The contract."""


class TestCollector(InMill, MetricCollectorSuite):
    """The contract."""


class TestRealizer(InMill, ScalingRealizerSuite):
    """The contract."""


async def test_a_file_that_makes_no_sense_is_a_fault_that_passes(mill: Mill) -> None:
    """The job writes again soon."""
    (mill.directory / "flour.status.json").write_text('{"job_id": ')
    with pytest.raises(UnreachableError, match=r"flour\.status\.json"):
        await mill.collector.update_metrics(mill.job, NOON)


async def test_settings_are_wished_once(mill: Mill) -> None:
    """And taken back as well."""
    fine = ConfigChanges(overrides={"grain": "fine"})
    assert await mill.realizer.realize_config_overrides(mill.job, fine)
    assert not await mill.realizer.realize_config_overrides(mill.job, fine)
    assert await mill.realizer.realize_config_overrides(mill.job, ConfigChanges(removals=frozenset({"grain"})))
