"""
Somebody else's algorithm in the very service, on a real Flink: parallelism and checkpoint interval change at once.

The plugin is found by its distribution's entry point and chosen by the file that an operator writes, as any other is.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.flink.conftest import RunJob

from headgate.config.loading import load
from headgate.demo.loadjob import ENTRY_CLASS, LoadJobSpec
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.model.decision import Decision, Outcome
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.testing.distributions import write_distribution
from headgate.testing.fakes import RecordingEvents
from headgate.testing.load_jobs import RATE_PER_S, two_stages
from headgate.wiring import service

pytestmark = pytest.mark.flink

Answer = Any

LIMIT = timedelta(seconds=60)
FURTHER_CYCLES = 5
"""That could act, and leave the job alone."""
INTERVAL_BEFORE, INTERVAL_AFTER = timedelta(seconds=2), timedelta(seconds=6)
TROUBLE = {
    EventReason.AUTOSCALER_ERROR,
    EventReason.PLUGIN_FAILED,
    EventReason.CONFIGURATION_DEFERRED,
    EventReason.RESCALE_NOT_REACHED,
}

POINTS = {"headgate.decision_plugins": {"rare-checkpoints": "RareCheckpoints"}}
CODE = """
from dataclasses import replace

from headgate.model.decision import ConfigChanges

class RareCheckpoints:
    '''Gives each subtask of the widest vertex of a job that grows its share of the checkpoint interval.'''

    priority = 10

    def __init__(self, parameters):
        self.seconds = int(parameters["seconds-per-subtask"])

    def decide(self, ctx, decision, change):
        if not any(each.wanted > each.current for each in decision.changes.values()):
            return change
        interval = f"{self.seconds * max(change.parallelism.values())} s"
        return replace(change, config=ConfigChanges(overrides={"execution.checkpointing.interval": interval}))
"""


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the distribution with the plugin on the path."""
    write_distribution(tmp_path, "stranger", POINTS, CODE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


def written(cluster: LocalCluster, jar: Path, spec: LoadJobSpec, folder: Path) -> Mapping[str, object]:
    """Write what an operator would: the plugin, how the job is rescaled and from what it is started; short windows."""
    return {
        "clusters": [{"name": "lab", "url": cluster.url}],
        "mode": "act",
        "pipeline": "in-process",
        "collect.interval": "1 s",
        "decide.interval": "1 s",
        "state-store": f"sqlite:///{folder / 'headgate.db'}",
        "log.path": str(folder / "samples"),
        "job.autoscaler": {
            "metrics.window": "8 s",
            "stabilization.interval": "3 s",
            "restart.time": "5 s",
            # Neither stage is near the edge of what is left alone: one subtask would be busy for 98 % of the time.
            "utilization.max": 0.8,
            "metrics.busy-time.aggregator": "AVG",
            "scaling.parallelism-alignment.mode": "OFF",
            "scaling.custom-executor.rare": {"class": "rare-checkpoints", "seconds-per-subtask": "2"},
        },
        "jobs": [
            {
                "match": f"lab/{spec.name}",
                "job.autoscaler": {"scaling.realizer.class": "savepoint-redeploy", "scaling.custom-executors": "rare"},
                "launch": {
                    "jar": str(jar),
                    "entry-class": ENTRY_CLASS,
                    "args": list(spec.arguments()),
                    "parallelism": 1,
                },
            }
        ],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Headgate:
    """The running service: what it tells, and what it decides."""

    events: RecordingEvents = field(default_factory=RecordingEvents)
    decided: list[Decision] = field(default_factory=list)
    _cycle_is_over: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, decisions: tuple[Decision, ...]) -> None:
        """Keep what a cycle decided."""
        self.decided.extend(decisions)
        self._cycle_is_over.set()

    async def until(self, reached: Callable[[], bool]) -> None:
        """Let it run until a condition holds; fail with what it told if that takes too long."""
        try:
            async with asyncio.timeout(LIMIT.total_seconds()):
                while not reached():
                    self._cycle_is_over.clear()
                    await self._cycle_is_over.wait()
        except TimeoutError:
            pytest.fail("\n".join(f"{event.reason}: {event.message}" for event in self.events.told))

    def messages(self, reason: EventReason) -> list[str]:
        """Give what was told of a reason."""
        return [event.message for event in self.events.told if event.reason is reason]

    def since(self, instant: datetime) -> list[Outcome]:
        """Give what came of each later cycle that could act."""
        return [each.outcome for each in self.decided if each.at > instant and each.outcome is not Outcome.NOT_READY]


@asynccontextmanager
async def running(file: Path) -> AsyncIterator[Headgate]:
    """Run the service of this file, in this process."""
    headgate, stop = Headgate(), asyncio.Event()
    options = load(file, {}, {}).options
    async with (
        service(options, events=headgate.events, on_decisions=headgate.note) as wired,
        asyncio.TaskGroup() as tasks,
    ):
        tasks.create_task(wired.run(stop))
        try:
            yield headgate
        finally:
            stop.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One job as Flink tells of it."""

    state: str
    restored: int
    """How often it began from a checkpoint or savepoint, its start included."""
    checkpoint_interval: timedelta
    parallelism: Mapping[str, int]
    read: int
    """Records that the first stage read."""
    sent: int
    """Records that the source sent it."""
    emitted: int
    """Records that the source ever emitted, in the jobs before this one too; -1 where that is not told any more."""

    @classmethod
    def of(cls, url: str) -> Run:
        """Read one job."""
        job = call_json(url)
        by_name = {vertex["name"]: vertex for vertex in job["vertices"]}
        source = by_name["Source: source"]
        return cls(
            state=job["state"],
            restored=call_json(f"{url}/checkpoints")["counts"]["restored"],
            checkpoint_interval=timedelta(milliseconds=call_json(f"{url}/checkpoints/config")["interval"]),
            parallelism={name: vertex["parallelism"] for name, vertex in by_name.items()},
            read=by_name["a"]["metrics"]["read-records"],
            sent=source["metrics"]["write-records"],
            emitted=_emitted(f"{url}/vertices/{source['id']}/subtasks/metrics"),
        )


def _emitted(url: str) -> int:
    found: Answer = call_json(f"{url}?agg=sum&get=Source__source.emittedRecords")
    return int(float(found[0]["sum"])) if found else -1


def runs(cluster: LocalCluster, name: str) -> list[Run]:
    """Read every job that was ever started on the cluster under a name, in order."""
    listed = [job for job in call_json(f"{cluster.url}/jobs/overview")["jobs"] if job["name"] == name]
    listed.sort(key=lambda job: int(job["start-time"]))
    return [Run.of(f"{cluster.url}/jobs/{job['jid']}") for job in listed]


@pytest.mark.usefixtures("stranger")
async def test_a_strangers_algorithm_changes_parallelism_and_checkpoint_interval_in_one_interruption(
    cluster: LocalCluster, run_job: RunJob, jar: Path, tmp_path: Path
) -> None:
    """A job that needs more is replaced once, by one that has more and makes checkpoints more rarely; then rest."""
    spec, file = two_stages("strangers"), tmp_path / "headgate.yaml"
    run_job(spec, 1)
    file.write_text(yaml.safe_dump(written(cluster, jar, spec, tmp_path)), encoding="utf-8")
    async with running(file) as headgate:
        await headgate.until(lambda: EventReason.RESCALE_REACHED in headgate.events.reasons)
        reached = headgate.decided[-1].at
        await headgate.until(lambda: len(headgate.since(reached)) >= FURTHER_CYCLES)
        old, new = runs(cluster, spec.name)

    assert (old.state, old.restored, new.state, new.restored) == ("FINISHED", 0, "RUNNING", 1)
    assert (set(old.parallelism.values()), old.checkpoint_interval) == ({1}, INTERVAL_BEFORE)
    assert new.parallelism == {"Source: source": 1, "a": 2, "b": 3, "sink: Writer": 1}
    assert new.checkpoint_interval == INTERVAL_AFTER

    (report,) = headgate.messages(EventReason.SCALING_REPORT)
    assert report.startswith("rescaling: ")
    assert report.count("| parallelism 1 -> ") == len(("a", "b"))
    assert "plugin rare: execution.checkpointing.interval=6 s" in report
    assert len(headgate.messages(EventReason.SCALING)) == len(headgate.messages(EventReason.RESCALE_REACHED)) == 1
    assert not TROUBLE & set(headgate.events.reasons)
    assert set(headgate.since(reached)) == {Outcome.KEEP}
    assert {each.job for each in headgate.decided} == {JobKey("lab", "strangers")}

    # The old job ended with nothing in flight, and the new one began right there; its two counts are read one after
    # the other, hence a second's records.
    assert old.read == old.sent
    assert new.emitted - new.sent == pytest.approx(old.sent, abs=RATE_PER_S)
