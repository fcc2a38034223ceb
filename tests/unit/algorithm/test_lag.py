"""How surely a lag is known, and what a job does not do while that is doubted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.decide import decide
from headgate.algorithm.explain import explain
from headgate.algorithm.lag import TOLD, lacks_brokers, told_brokers_unknown
from headgate.algorithm.readiness import pace, readiness
from headgate.algorithm.rules import HEADGATE
from headgate.model.decision import Outcome
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.model.lag import LagOrigin, Outage
from headgate.model.measures import JobMeasure
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation
from headgate.testing.builders import ORDERS, at, chain, evaluated, sample

GRAPH = chain({"source": 4, "work": 4})
EAGER = AutoscalerOptions(scale_down_interval=timedelta())
PACE = pace(timedelta(seconds=10), 1.0, HEADGATE)


def _sample(**values: float) -> JobSample:
    return replace(sample(GRAPH), values={JobMeasure[name]: value for name, value in values.items()})


@pytest.mark.parametrize("origin", [LagOrigin.DOUBTED, LagOrigin.UNKNOWN])
def test_a_doubted_lag_shrinks_nothing(origin: LagOrigin) -> None:
    """Half would do by the numbers, but more may wait than is known; growth goes on."""
    metrics = replace(evaluated(GRAPH, {"source": 0.5, "work": 2.0}), lag_origin=origin)

    decision = decide(_sample(LAG_ORIGIN=origin), metrics, EAGER, at(0))

    source, work = decision.proposals
    assert (source.wanted, work.wanted) == (4, 8)
    assert source.steps[-1].reason is Reason.LAG_DOUBTED
    assert f"  {TOLD[origin]}" in explain(decision)


@pytest.mark.parametrize(
    ("origin", "options"),
    [
        (LagOrigin.OFFSETS, EAGER),
        (LagOrigin.CONNECTOR, EAGER),
        (LagOrigin.DOUBTED, replace(EAGER, deviations_off=(Deviation.SURE_LAG,))),
    ],
)
def test_a_sure_lag_lets_shrink(origin: LagOrigin, options: AutoscalerOptions) -> None:
    """As does any, where the rule is switched off."""
    decision = decide(_sample(LAG_ORIGIN=origin), evaluated(GRAPH, {"source": 0.5, "work": 0.5}), options, at(0))

    assert [each.wanted for each in decision.proposals] == [2, 2]


def test_every_origin_is_told() -> None:
    """Each has its words, and is sure or not."""
    assert set(TOLD) == set(LagOrigin)


@pytest.mark.parametrize("outage", Outage)
def test_a_job_that_is_cut_off_is_not_decided_on(outage: Outage) -> None:
    """However full its window is; somebody is told once, and told again by the same key."""
    unready = readiness(_sample(OUTAGE=outage), EAGER, spans={}, pace=PACE, now=at(0))

    assert isinstance(unready, NotReady)
    decision = decide(sample(GRAPH), unready, EAGER, at(0))
    assert (decision.outcome, decision.reason) == (Outcome.NOT_READY, Reason.INPUT_CUT_OFF)
    assert [notice.reason for notice in decision.notices] == [EventReason.INPUT_CUT_OFF]


def test_a_job_whose_brokers_are_not_known_is_told_of_before_it_is_decided_on() -> None:
    """Once as an event, and by each explanation: with the line of YAML that mends it."""
    unready = NotReady(reason=Reason.STABILIZING, message="34 s of stabilization are left")
    lacking = decide(_sample(BROKERS_UNKNOWN=1), unready, EAGER, at(0))
    known = decide(_sample(), unready, EAGER, at(0))

    (notice,) = lacking.notices
    assert notice.reason is EventReason.OFFSETS_UNAVAILABLE
    assert notice.message.startswith("prod/orders reads Kafka; its brokers are not known, ")
    assert 'kafka-clusters: [{name: main, url: "broker-1:9092,broker-2:9092", match: "prod/orders"}]' in notice.message
    assert f"  {notice.message}" in explain(lacking)
    assert (lacks_brokers(lacking), lacks_brokers(known), known.notices) == (True, False, ())


@pytest.mark.parametrize("origin", [LagOrigin.CONNECTOR, LagOrigin.DOUBTED])
def test_it_is_explained_of_what_is_decided_as_well_and_told_by_no_further_event(origin: LagOrigin) -> None:
    """However its lag is known, since the brokers would know it better."""
    metrics = replace(evaluated(GRAPH, {}), lag_origin=origin)
    known = decide(_sample(LAG_ORIGIN=origin), metrics, EAGER, at(0))
    lacking = decide(_sample(LAG_ORIGIN=origin), replace(metrics, brokers_unknown=True), EAGER, at(0))

    assert [line for line in explain(lacking) if line not in explain(known)] == [f"  {told_brokers_unknown([ORDERS])}"]
    assert lacking.notices == ()


def test_jobs_without_brokers_are_named_as_far_as_they_can_be_read() -> None:
    """The line of YAML is for all of them then."""
    told = told_brokers_unknown([JobKey("prod", f"job-{number}") for number in range(7)])

    assert told.startswith("each of prod/job-0, prod/job-1, prod/job-2, prod/job-3, prod/job-4, 2 more reads Kafka; ")
    assert 'match: "*"' in told
