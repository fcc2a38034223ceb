"""Samples in memory and one evaluator: when it is asked, with what, and what becomes of a bad answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headgate.agent.evaluating import Answer, WindowEvaluator
from headgate.model.events import EventReason
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings, JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.plugins import PluginOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.ready import Plugin
from headgate.plugins.registry import Registry
from headgate.ports import Candidate, CollectedMetrics
from headgate.testing.builders import ORDERS, at, chain, evaluated, sample
from headgate.testing.fakes import RecordingEvents

GRAPH = chain({"orders": 2})
OPTIONS = replace(
    AutoscalerOptions(), metrics_window=timedelta(seconds=10), stabilization_interval=timedelta(), evaluator="mine"
)
SETTINGS = EngineSettings(metric_refresh_s=2.0)


class Asked:
    """An evaluator that keeps what it was asked, and has one answer."""

    def __init__(self, answer: Answer | Exception) -> None:
        """Give that answer, or fail."""
        self.answer = answer
        self.collected: list[CollectedMetrics] = []

    def evaluate(self, conf: AutoscalerOptions, collected: CollectedMetrics, restart_time: timedelta) -> Answer:  # noqa: ARG002
        """Answer."""
        self.collected.append(collected)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Host(PluginHost):
    """A host in which one evaluator stands, whatever it is called."""

    def __init__(self, evaluator: Asked) -> None:
        """Let that one be asked."""
        super().__init__(Catalog(Registry(), Tables()), PluginOptions())
        self._evaluator = evaluator

    def ready(self, _: Kind, name: str) -> Plugin:
        """Give it."""
        return Plugin(name=name, distribution="somebody", port=self._evaluator)


def tick(second: float, **values: float) -> JobSample:
    """Take a sample of the application, with values of its query by the names of the measures."""
    measured = {Measure[name]: value for name, value in values.items()}
    taken = sample(GRAPH, tick=at(second), settings=SETTINGS)
    return replace(taken, vertices={GRAPH.vertices[0].id: VertexSample(measured_at=at(second), values=measured)})


def story(answer: Answer | Exception, *, seconds: range) -> tuple[Answer, Asked, RecordingEvents]:
    """Take a sample every two seconds, then ask at the last one."""
    asked, events = Asked(answer), RecordingEvents()
    evaluator = WindowEvaluator(
        host=Host(asked), events=events, collect_interval=timedelta(seconds=2), keep=OPTIONS.metrics_window
    )
    for second in seconds:
        evaluator.append([tick(second, LAG=second / 7)])
    now = at(seconds[-1])
    candidate = Candidate(
        sample=tick(seconds[-1], LAG=seconds[-1] / 7), options=OPTIONS, window_from=at(seconds[-1] - 10)
    )
    return evaluator.evaluate([candidate], now)[ORDERS], asked, events


def test_a_full_window_is_handed_to_the_evaluator_in_order() -> None:
    """What is older than the window is not among it; the newest sample is as it was taken."""
    answer, asked, _ = story(evaluated(GRAPH, {"orders": 2.0}), seconds=range(0, 31, 2))
    assert isinstance(answer, EvaluatedMetrics)
    samples = asked.collected[0].samples
    assert [one.at for one in samples] == [at(second) for second in range(20, 31, 2)]
    assert samples[-1].vertices[GRAPH.vertices[0].id].values[Measure.LAG] == 30 / 7


def test_older_samples_are_what_the_log_keeps_of_them() -> None:
    """In thousandths, so that a replay from a log gives the same decision."""
    _, asked, _ = story(evaluated(GRAPH, {}), seconds=range(0, 31, 2))
    assert asked.collected[0].samples[0].vertices[GRAPH.vertices[0].id].values[Measure.LAG] == 2.857


def test_before_the_window_is_full_nobody_is_asked() -> None:
    """The same condition as for any job, in the same words."""
    answer, asked, _ = story(evaluated(GRAPH, {}), seconds=range(0, 5, 2))
    assert isinstance(answer, NotReady)
    assert answer.reason is Reason.WINDOW_FILLING
    assert not asked.collected


def test_a_hole_in_the_window_is_not_decided_over() -> None:
    """Samples that are missing are no calm."""
    evaluator = WindowEvaluator(
        host=Host(Asked(evaluated(GRAPH, {}))),
        events=RecordingEvents(),
        collect_interval=timedelta(seconds=2),
        keep=timedelta(minutes=1),
    )
    for second in (0, 2, 40):
        evaluator.append([tick(second)])
    options = replace(OPTIONS, metrics_window=timedelta(seconds=40))
    candidate = Candidate(sample=tick(40), options=options, window_from=at(0))
    answer = evaluator.evaluate([candidate], at(40))[ORDERS]
    assert isinstance(answer, NotReady)
    assert answer.reason is Reason.PARTIAL_METRICS


def test_an_evaluator_that_fails_is_an_event_and_no_decision() -> None:
    """Its own text is told; nothing else of the agent is touched."""
    answer, _, events = story(ZeroDivisionError("of nothing"), seconds=range(0, 31, 2))
    assert isinstance(answer, NotReady)
    assert answer.reason is Reason.PLUGIN_FAILED
    assert "raised ZeroDivisionError: of nothing" in answer.message
    assert events.reasons == [EventReason.PLUGIN_FAILED]


def test_an_answer_that_contradicts_itself_is_refused() -> None:
    """As where a service evaluates."""
    nonsense = replace(evaluated(GRAPH, {"orders": 2.0}), coverage=7.0)
    answer, _, _ = story(nonsense, seconds=range(0, 31, 2))
    assert isinstance(answer, NotReady)
    assert "gave what makes no sense" in answer.message


def test_a_tick_that_comes_again_replaces_itself() -> None:
    """A retry is no second sample."""
    asked = Asked(evaluated(GRAPH, {}))
    evaluator = WindowEvaluator(
        host=Host(asked), events=RecordingEvents(), collect_interval=timedelta(seconds=2), keep=timedelta(minutes=1)
    )
    for second in (*range(0, 11, 2), 8, 10):
        evaluator.append([replace(tick(second), values={JobMeasure.STATE_SIZE: float(second)})])
    candidate = Candidate(sample=tick(10), options=OPTIONS, window_from=at(0))
    assert isinstance(evaluator.evaluate([candidate], at(10))[ORDERS], EvaluatedMetrics)
    assert [one.at for one in asked.collected[0].samples] == [at(second) for second in range(0, 11, 2)]


def test_samples_are_kept_as_long_as_the_window_grows() -> None:
    """Triggers far apart ask for a longer window than any that was known at the start."""
    asked = Asked(evaluated(GRAPH, {}))
    evaluator = WindowEvaluator(
        host=Host(asked), events=RecordingEvents(), collect_interval=timedelta(seconds=2), keep=timedelta(seconds=10)
    )
    options = replace(OPTIONS, metrics_window=timedelta(seconds=40))
    for second in range(0, 41, 2):
        evaluator.append([tick(second)])
        evaluator.evaluate([Candidate(sample=tick(second), options=options, window_from=at(0))], at(second))
    assert [one.at for one in asked.collected[-1].samples] == [at(second) for second in range(0, 41, 2)]
