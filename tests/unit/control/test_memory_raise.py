"""Raising the memory of a job's TaskManagers: only where nobody else is disturbed, and somebody can."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from headgate.algorithm.memory.config import Key
from headgate.control.memory_raise import WorkersMemoryRaise
from headgate.errors import RefusedError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.rollback import Evidence, Pool, Run, Shortage, Trial
from headgate.model.samples import EngineSettings, JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext, JobList, Workers
from headgate.testing.builders import ORDERS, at, chain, context, sample

GRAPH = chain({"source": 2, "sink": 2})
SETTINGS = EngineSettings(
    slots_per_task_manager=2,
    memory={Key.TASK_HEAP: "256m", Key.MANAGED_SIZE: "64m", Key.NETWORK_MIN: "64m", Key.NETWORK_MAX: "64m"},
)
TRIAL = Trial(
    decision_id="d",
    began_at=at(0),
    before=Run(job_id="j1", fingerprint=GRAPH.fingerprint, parallelism=GRAPH.parallelism),
    after=dict.fromkeys(GRAPH.by_id, 4),
    job_id="j1",
)
NETWORK = Evidence(checker="mine", found="it is short of it", shortage=Shortage(pool=Pool.NETWORK))
HEAP = Evidence(checker="memory-pressure", found="it is full", shortage=Shortage(pool=Pool.HEAP))


@dataclass
class FakeProvider:
    """Two workers, and whatever settings they were given."""

    settings: dict[str, str] = field(default_factory=dict)
    refuses: str = ""
    present: int = 2

    async def workers(self) -> Workers:
        """Count them."""
        return Workers(wanted=self.present, ready=self.present)

    async def request(self, _count: int, /) -> bool:
        """Nobody asks for this here."""
        raise AssertionError

    async def reconfigure(self, settings: Mapping[str, str], /) -> bool:
        """Take settings over, or refuse."""
        if self.refuses:
            raise RefusedError(self.refuses)
        changed = {**self.settings, **settings} != self.settings
        self.settings |= settings
        return changed

    async def close(self) -> None:
        """Do nothing."""


@dataclass
class FakeFetcher:
    """Lists what it is given."""

    listed: JobList

    async def fetch(self) -> JobList:
        """List."""
        return self.listed


@dataclass
class Story:
    """A job that is alone on its cluster, unless told otherwise."""

    provider: FakeProvider = field(default_factory=FakeProvider)
    others: tuple[JobContext, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    providers: bool = True

    def asked(self, evidence: Evidence = NETWORK, seen: JobSample | None = None, **options: Any) -> str | None:
        """Return what is answered."""
        ctx = context(options=AutoscalerOptions(memory_tuning_enabled=True, **options))
        raising = WorkersMemoryRaise(
            providers={"prod": self.provider} if self.providers else {},
            fetchers={"prod": FakeFetcher(JobList(jobs=(ctx, *self.others), failures=self.failures))},
        )
        seen = seen or replace(sample(GRAPH, settings=SETTINGS), slots_total=4)
        return asyncio.run(raising.raise_for(ctx, TRIAL, evidence, seen))


@pytest.mark.parametrize(
    ("evidence", "settings"),
    [(NETWORK, {Key.NETWORK_MIN: "128 mb", Key.NETWORK_MAX: "128 mb"}), (HEAP, {Key.TASK_HEAP: "640 mb"})],
)
def test_the_workers_get_more_of_what_was_short(evidence: Evidence, settings: Mapping[str, str]) -> None:
    """And nothing else changes."""
    story = Story()
    assert story.asked(evidence) is None
    assert story.provider.settings == settings


def test_the_same_again_is_no_cure() -> None:
    """They have it already, and the job was short of memory all the same."""
    story = Story()
    assert [story.asked(), story.asked()] == [None, "it was given all that memory before"]


@pytest.mark.parametrize(
    ("story", "why"),
    [
        (Story(others=(context(JobKey("prod", "bills")),)), "that would restart the TaskManagers of bills too"),
        (Story(failures={"prod": "no answer"}), "which is not known"),
        (Story(providers=False), "nobody can restart the TaskManagers of prod with more network memory"),
        (Story(provider=FakeProvider(refuses="a command")), "cannot be given more memory: a command"),
        (Story(provider=FakeProvider(present=1)), "some of its TaskManagers were started by somebody else"),
    ],
)
def test_it_is_said_why_nothing_is_raised(story: Story, why: str) -> None:
    """Nobody's TaskManagers are touched then."""
    answer = story.asked()
    assert answer
    assert why in answer
    assert not story.provider.settings


def test_jobs_that_are_over_or_elsewhere_are_not_disturbed() -> None:
    """Flink lists a finished job for an hour."""
    over = context(JobKey("prod", "bills"), status=JobStatus.FINISHED)
    assert Story(others=(over, context(JobKey("test", "bills")))).asked() is None


def test_another_ailment_or_a_quota_is_told_of() -> None:
    """Memory is no cure for everything, and is not given without limit."""
    story = Story()
    assert (
        story.asked(Evidence(checker="never-running", found="it has no network memory"))
        == "more memory is no cure for that"
    )
    assert "quota.memory is 1024 MiB" in (story.asked(quota_memory=2**30) or "")
    assert (ORDERS.cluster, story.provider.settings) == ("prod", {})
