"""From an application's samples to evaluated metrics that lead to the fewest cores on which its queries keep up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

import numpy as np

from headgate.algorithm.hpa.formula import factor_to
from headgate.algorithm.job_wide import job_wide
from headgate.algorithm.micro_batch.application import Application
from headgate.algorithm.micro_batch.moving import downtime
from headgate.algorithm.micro_batch.telling import limited, metrics
from headgate.algorithm.micro_batch.wording import sentence, unknown_costs
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions

FOLLOWS = "it runs on the cores of its query"


def evaluate(
    topology: Topology, samples: Sequence[JobSample], options: AutoscalerOptions
) -> EvaluatedMetrics | NotReady:
    """
    Evaluate one application.

    Args:
        topology: as it runs.
        samples: of its metric window, oldest first.
        options: of the application, with the restart time that is expected.
    """
    if not samples:
        return NotReady(reason=Reason.NO_SAMPLES, message="no sample was taken yet")
    application = Application(topology, samples, options)
    return _unready(application) or EvaluatedMetrics(
        vertices=dict(_vertices(application)),
        backlog=application.backlog,
        coverage=min(1.0, (samples[-1].at - samples[0].at) / options.metrics_window),
        samples=min(query.samples for query in application.queries),
        job=job_wide(samples[-1], {}),
        downtime=downtime(samples[-1]),
    )


def _unready(application: Application) -> NotReady | None:
    if not application.queries:
        return NotReady(reason=Reason.MISSING_METRICS, message="no query runs")
    if application.samples[-1].slots_total == 0:
        return NotReady(reason=Reason.MISSING_METRICS, message="there is no executor at this instant")
    if application.unknown:
        message = unknown_costs(application.unknown, application.samples)
        return NotReady(reason=Reason.COST_UNKNOWN, message=message)
    if np.isnan(application.rates).all():
        span = application.samples[-1].at - application.samples[0].at
        message = f"no batch ended within {span / timedelta(seconds=1):.0f} s: nobody can tell what comes in"
        return NotReady(reason=Reason.WINDOW_FILLING, message=message)
    return None


def _vertices(application: Application) -> Iterator[tuple[VertexId, VertexMetrics]]:
    """Tell every vertex the same number of cores, on its query's first stage why."""
    wanted = application.need.wanted
    changes = wanted != application.running
    for place, query in enumerate(application.queries):
        first, *others = query.stages
        told = metrics(application, place, outside=changes)
        limits, wish = limited(application, place)
        yield first.id, _vertex(application, told, wish, sentence(application, place), outside=changes, limits=limits)
        for vertex in others:
            yield vertex.id, _vertex(application, told, wanted, FOLLOWS, outside=changes, limits={})


def _vertex(
    application: Application,
    told: Mapping[ScalingMetric, float],
    wish: int,
    basis: str,
    *,
    outside: bool,
    limits: Mapping[Reason, float],
) -> VertexMetrics:
    """
    Give a vertex a factor with which its running parallelism becomes exactly the wish.

    The capacity told beside it is that of as many cores by proportion, for whoever reckons so; which one is needed
    stands in the basis.
    """
    factor = factor_to(application.running, wish)
    rate = told.get(ScalingMetric.TRUE_PROCESSING_RATE)
    return VertexMetrics(
        metrics=told,
        needed_capacity=None if rate is None else rate * factor,
        factor=factor,
        outside=outside or bool(limits),
        limits=limits,
        basis=basis,
    )
