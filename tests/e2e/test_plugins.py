"""Plugins of other distributions in a whole cycle: what they decide, and what becomes of those that fail."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import psutil
import pytest

from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.deciding import PluginDecider
from headgate.control.observation import Observation
from headgate.control.outbox import Outbox
from headgate.control.selection import SelectedCollector, SelectedRealizer
from headgate.model.decision import Decision, Outcome
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.options.plugins import PluginOptions
from headgate.options.rollback import RollbackOptions
from headgate.options.service import Mode
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.pipeline.selected import SelectedEvaluator
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.registry import Registry
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import at, chain, context, sample
from headgate.testing.distributions import write_distribution
from headgate.testing.fakes import FakeEngine, RecordingEvents, RecordingLog

GRAPH = chain({"source": 2})
SOURCE = VertexId("source")
WINDOW = timedelta(minutes=5)
NOW = at(300)
PLAIN, OWN = JobKey("prod", "plain"), JobKey("prod", "own")
CODE = """
import os

class Endless:
    def __init__(self, parameters):
        self.parameters = parameters

    def evaluate(self, conf, collected, restart_time):
        while True:
            pass

    def override(self, conf, question):
        while True:
            pass

class Doubling:
    def __init__(self, parameters):
        self.times = float(parameters.get("times", "2"))

    def override(self, conf, question):
        return {"TARGET_DATA_RATE": question.metrics["TARGET_DATA_RATE"] * self.times}

class Careful:
    priority = 1

    def __init__(self, parameters):
        self.most = int(parameters["most"])

    def decide(self, ctx, decision, change):
        from dataclasses import replace
        return replace(change, parallelism={v: min(p, self.most) for v, p in change.parallelism.items()})

class Never:
    def __init__(self, parameters):
        pass

    def decide(self, ctx, decision, change):
        return None

class Tens:
    def __init__(self, parameters):
        pass

    def is_applicable(self, question):
        return True

    def align(self, question):
        return -(-question.target // 10) * 10

class Doomed:
    def __init__(self, parameters):
        pass

    def check(self, ctx, evaluated):
        return True

class Dying:
    def __init__(self, parameters):
        pass

    def override(self, conf, question):
        os._exit(3)
"""
POINTS = {
    "headgate.metric_evaluators": {"endless": "Endless"},
    "headgate.evaluator_plugins": {"endless": "Endless", "doubling": "Doubling", "dying": "Dying"},
    "headgate.decision_plugins": {"careful": "Careful", "never": "Never"},
    "headgate.alignment_modes": {"tens": "Tens"},
    "headgate.unrecoverable_error_checkers": {"doomed": "Doomed"},
}
TABLES = Tables(
    executors={"few.class": "careful", "few.most": "3"}, evaluators={"much.class": "doubling", "much.times": "9"}
)


class Stage:
    """Two equal jobs that want to grow from 2 to 4, and one cycle over them."""

    def __init__(self, host: PluginHost) -> None:
        """Set it up as the service is wired."""
        self.host, self.events, self.engine, self.log = host, RecordingEvents(), FakeEngine(), RecordingLog()
        self.evaluator = InProcessEvaluator(collect_interval=timedelta(seconds=10), keep=WINDOW)
        for second in range(0, 301, 10):
            self.evaluator.append([busy(job, second) for job in (PLAIN, OWN)])

    async def decisions(self, *, mode: Mode = Mode.ADVISE, **options: object) -> dict[JobKey, Decision]:
        """Decide once; one of the jobs has these options."""
        decided = await self.cycle(mode).run(self.observed(**options), NOW)
        return {decision.job: decision for decision in decided}

    def observed(self, **options: object) -> dict[JobKey, Observation]:
        """Give the jobs as they were observed last, and let them run; by their windows, as with evaluator plugins."""
        plain = AutoscalerOptions(
            metrics_window=WINDOW,
            stabilization_interval=timedelta(),
            catch_up_duration=timedelta(),
            reaction=Reaction.WINDOWED,
        )
        both = {PLAIN: plain, OWN: replace(plain, **options)}  # type: ignore[arg-type]
        contexts = {job: context(job, options=each) for job, each in both.items()}
        for job, ctx in contexts.items():
            self.engine.add(ctx, busy(job, 300))
        return {job: Observation(ctx=ctx, sample=busy(job, 300)) for job, ctx in contexts.items()}

    def cycle(self, mode: Mode) -> Cycle:
        """Put a cycle together with everything that knows of plugins."""
        outbox = Outbox(store=MemoryStateStore(), events=self.events)
        return Cycle(
            mode=mode,
            evaluator=SelectedEvaluator(
                fleet=self.evaluator,
                windows=self.evaluator,
                host=self.host,
                events=self.events,
                collect_interval=timedelta(seconds=10),
            ),
            actuator=Actuator(
                collector=SelectedCollector(usual=self.engine, host=self.host),
                realizer=SelectedRealizer(usual=self.engine, host=self.host),
                outbox=outbox,
                events=self.events,
            ),
            outbox=outbox,
            events=self.events,
            decisions=self.log,
            decider=PluginDecider(host=self.host, events=self.events),
        )

    def told(self, reason: EventReason) -> list[str]:
        """Give what was told of a reason."""
        return [event.message for event in self.events.told if event.reason is reason]


def busy(job: JobKey, second: int) -> JobSample:
    """Give a sample of a source that is always busy reading 400/s, while its lag grows by 160/s."""
    tick: datetime = at(second)
    values = {
        Measure.NUM_RECORDS_IN: 400.0 * second,
        Measure.NUM_RECORDS_OUT: 0.0,
        Measure.ACCUMULATED_BUSY_TIME: 2000.0 * second,
        Measure.LOAD: 1.0,
        Measure.LAG: 160.0 * second,
    }
    vertices = {SOURCE: VertexSample(measured_at=tick, values=values)}
    return replace(sample(GRAPH, job=job, tick=tick, running_since=at(-3600)), vertices=vertices)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """Give the stage, with a distribution of plugins on the path."""
    write_distribution(tmp_path, "strangers", POINTS, CODE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    host = PluginHost(Catalog(Registry(), TABLES), PluginOptions(deadline=timedelta(seconds=1)))
    yield Stage(host)
    host.close()


async def test_an_endless_loop_costs_its_own_job_alone(stage: Stage) -> None:
    """The other job is decided in the same tick, the event names the distribution, and the process is gone."""
    stage.host.ready(Kind.METRIC_EVALUATOR, "endless")
    (pid,) = stage.host.workers("strangers")
    decided = await stage.decisions(evaluator="endless")

    assert decided[PLAIN].outcome is Outcome.RESCALE
    assert (decided[OWN].outcome, decided[OWN].reason) == (Outcome.NOT_READY, Reason.PLUGIN_FAILED)
    (told,) = [event for event in stage.events.told if event.reason is EventReason.PLUGIN_FAILED]
    assert told.fields == {"plugin": "endless", "distribution": "strangers"}
    assert "gave no answer within 1 s" in told.message
    assert stage.host.workers("strangers") == ()
    assert not psutil.pid_exists(pid)


async def test_after_a_hang_a_new_process_answers(stage: Stage) -> None:
    """The next call of the same distribution starts one."""
    await stage.decisions(evaluator="endless")
    decided = await stage.decisions(custom_evaluators=("doubling",))
    assert decided[OWN].targets[SOURCE] == 2 * decided[PLAIN].targets[SOURCE]
    assert len(stage.host.workers("strangers")) == 1


@pytest.mark.parametrize("name", ["endless", "dying"])
async def test_a_job_goes_without_an_evaluator_plugin_that_fails(stage: Stage, name: str) -> None:
    """What others of its chain replace still counts."""
    decided = await stage.decisions(custom_evaluators=(name, "much"))
    assert decided[OWN].targets[SOURCE] == 9 * decided[PLAIN].targets[SOURCE]
    (told,) = stage.told(EventReason.PLUGIN_FAILED)
    assert told.startswith(f"plugin {name} of strangers ")


async def test_without_plugins_the_numbers_are_the_same_apart(stage: Stage) -> None:
    """A job that leaves the batch is evaluated by the same functions."""
    decided = await stage.decisions(custom_evaluators=("dying",))
    own, plain = decided[OWN].evaluated, decided[PLAIN].evaluated
    assert own is not None
    assert own == plain


async def test_a_decision_plugin_has_its_say(stage: Stage) -> None:
    """What it wants is done, and the trail names it."""
    decided = await stage.decisions(mode=Mode.ACT, custom_executors=("few",))
    own = decided[OWN]
    assert (decided[PLAIN].targets[SOURCE], own.targets[SOURCE]) == (4, 3)
    assert own.proposals[0].steps[-1].reason is Reason.DECISION_PLUGIN
    assert {SOURCE: 3} in stage.engine.requests


async def test_a_decision_plugin_may_forbid(stage: Stage) -> None:
    """That is told under the reference's name, and nothing is done."""
    decided = await stage.decisions(mode=Mode.ACT, custom_executors=("never",))
    assert (decided[OWN].outcome, decided[OWN].reason) == (Outcome.KEEP, Reason.SCALING_VETOED)
    (told,) = stage.told(EventReason.SCALING_VETOED)
    assert told.startswith("plugin never forbids: ")
    assert stage.engine.requests == [{SOURCE: 4}]


async def test_an_own_alignment_mode_moves_a_target(stage: Stage) -> None:
    """It is asked for whatever vertex changes, and held to the limits."""
    assert (await stage.decisions(alignment_mode="tens"))[OWN].targets[SOURCE] == 10
    assert (await stage.decisions(alignment_mode="tens", max_parallelism=7))[OWN].targets[SOURCE] == 7


async def test_a_checker_holds_a_job(stage: Stage) -> None:
    """While it says that the job is beyond recovery, nothing is scaled."""
    decided = await stage.decisions(rollback=RollbackOptions(checkers=("doomed",)))
    assert (decided[OWN].outcome, decided[OWN].reason) == (Outcome.NOT_READY, Reason.JOB_UNRECOVERABLE)
    (told,) = stage.told(EventReason.JOB_UNRECOVERABLE)
    assert told.startswith("checker doomed says that the job will not recover")
