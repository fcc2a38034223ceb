"""A first start: refused where the job runs already, or is called otherwise."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.engines.flink.redeploy.submission import submit_job
from headgate.errors import RefusedError
from headgate.model.identity import JobKey
from headgate.model.redeploy import Launch, Overlay, Start
from headgate.options.service import ClusterOptions
from headgate.testing.fake_redeploys import JAR, RedeployableFlink

ORDERS = JobKey("lab", "orders")
LAUNCH = Launch(jar=JAR, configuration={"a": "1", "secret": "${env:NOT_THERE}"}, start_limit=timedelta(seconds=1))
START = Start(parallelism=2, overlay=Overlay(removals=frozenset({"secret"}), overrides={"b": "2"}))


async def test_a_job_is_started_with_the_configuration_that_waited(flink: RedeployableFlink) -> None:
    """Over that of the launch spec."""
    flink.jobs.clear()
    job_id = await submit_job(ClusterOptions(name="lab", url=flink.url), ORDERS, LAUNCH, START, savepoint="file:/s")
    assert flink.alive == [job_id]
    body = flink.started[job_id].body
    assert (body["flinkConfiguration"], body["parallelism"]) == ({"a": "1", "b": "2"}, 2)
    assert body["savepointPath"] == "file:/s"


async def test_a_job_that_runs_is_not_started_twice(flink: RedeployableFlink) -> None:
    """The one that runs is named."""
    with pytest.raises(RefusedError, match=f"lab/orders runs already, as {1:032x}"):
        await submit_job(ClusterOptions(name="lab", url=flink.url), ORDERS, LAUNCH, START)
    assert not flink.started


async def test_a_job_of_another_name_is_cancelled(flink: RedeployableFlink) -> None:
    """It would never be found again under the key that it was submitted for."""
    with pytest.raises(RefusedError, match=r"calls its job 'orders', not 'bills'.*submit lab/orders"):
        await submit_job(ClusterOptions(name="lab", url=flink.url), JobKey("lab", "bills"), LAUNCH, START)
    assert [flink.jobs[job_id].state for job_id in flink.started] == ["CANCELED"]


async def test_a_missing_secret_is_named_by_its_reference(flink: RedeployableFlink) -> None:
    """And nothing is started."""
    flink.jobs.clear()
    with pytest.raises(RefusedError, match="NOT_THERE is not set"):
        await submit_job(ClusterOptions(name="lab", url=flink.url), ORDERS, LAUNCH, replace(START, overlay=Overlay()))
    assert not flink.started
