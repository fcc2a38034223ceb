"""Who is asked whether a job is beyond recovery: Headgate's own checkers for a rescale alone, and on the spot."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.rollback import run_of
from headgate.control.deciding import PluginDecider
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.rollback import Aftermath, Evidence, JobFailure, Pool, Shortage, Trial
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.plugins import PluginOptions
from headgate.options.rollback import RollbackOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.registry import Registry
from headgate.ports import JobContext
from headgate.testing.builders import at, chain, context, sample
from headgate.testing.fakes import RecordingEvents

NOTHING = NotReady(reason=Reason.JOB_NOT_RUNNING, message="it is down")


@pytest.fixture
def decider() -> PluginDecider:
    """Give one with what is installed, and whose threads answer to nobody in time."""
    catalog = Catalog(Registry(), Tables())
    host = PluginHost(lambda: catalog, PluginOptions(budget=timedelta(microseconds=1)))
    return PluginDecider(host=host, events=RecordingEvents())


def down_since_the_rescale(options: AutoscalerOptions | None = None) -> JobContext:
    """Return a job that is down for ten minutes since its rescale."""
    running = sample(chain({"agg": 1}))
    trial = Trial(decision_id="d", began_at=at(0), before=run_of(running, None), after={VertexId("agg"): 4})
    aftermath = Aftermath(
        trial=replace(trial, down_since=at(10)), now=at(610), status=JobStatus.RESTARTING, down_since=at(10)
    )
    return replace(context(status=JobStatus.RESTARTING, options=options), aftermath=aftermath)


async def test_a_job_that_does_not_run_since_its_rescale_is_condemned(decider: PluginDecider) -> None:
    """By name, with the numbers; no thread is waited for."""
    sick = await decider.examine(down_since_the_rescale(), NOTHING, at(610))
    assert sick
    assert str(sick).startswith("checker never-running: not running for 10 min")


async def test_what_a_checker_counted_is_evidence_in_numbers() -> None:
    """Under whatever name the operator has declared it: the memory is raised by the numbers, not by the sentence."""
    catalog = Catalog(Registry(), Tables(general={"mine.class": "network-memory"}))
    decider = PluginDecider(host=PluginHost(lambda: catalog, PluginOptions()), events=RecordingEvents())
    rolling = AutoscalerOptions(rollback=RollbackOptions(checkers=("mine",)))
    ctx, text = down_since_the_rescale(rolling), "Insufficient number of network buffers: required 17, but only 3"
    assert ctx.aftermath
    failures = tuple(JobFailure(at=at(second), text=text) for second in (100, 200))
    sick = await decider.examine(replace(ctx, aftermath=replace(ctx.aftermath, failures=failures)), NOTHING, at(610))
    assert sick == Evidence(
        checker="mine",
        found="2 failures for want of network buffers since a scale-up: 17 required, 3 available",
        shortage=Shortage(pool=Pool.NETWORK, required=17, available=3),
    )


async def test_without_a_rescale_under_observation_nobody_is_asked(decider: PluginDecider) -> None:
    """However sick the job is."""
    ctx = replace(down_since_the_rescale(), aftermath=None)
    assert await decider.examine(ctx, NOTHING, at(610)) is None


async def test_only_the_checkers_that_a_job_names_are_asked(decider: PluginDecider) -> None:
    """None at all, or another one."""
    for checkers in ((), ("network-memory",)):
        chosen = AutoscalerOptions(rollback=RollbackOptions(checkers=checkers))
        assert await decider.examine(down_since_the_rescale(chosen), NOTHING, at(610)) is None


async def test_a_job_that_is_not_looked_after_is_not_examined(decider: PluginDecider) -> None:
    """The autoscaler is off for it."""
    off = AutoscalerOptions(enabled=False)
    assert await decider.examine(down_since_the_rescale(off), NOTHING, at(610)) is None
