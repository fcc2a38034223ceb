"""
Asks one plugin of each kind, as `python plugin_template_program.py CONFIGURATION` in a process of its own.

What is asked follows from the configuration alone, and whoever is installed where Python looks for packages. Prints one
JSON object: of each kind the distribution that answered, and the answer as text.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from headgate.config.loading import load
from headgate.model.identity import JobKey, VertexId
from headgate.model.topology import Vertex
from headgate.options.service import ServiceOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.registry import Registry
from headgate.ports import AvailableResources, VertexQuestion
from headgate.testing.builders import ORDERS, context
from headgate.testing.conformance import material
from headgate.testing.conformance.alignment_mode import asked
from headgate.testing.conformance.event_handler import event

CONTEXT = context(material.OTHER)
FLOUR = context(JobKey("mill", "flour"))
"""The job of the Mill that the test has written."""


def main(configuration: Path) -> None:
    """Ask all, and print what came."""
    options = load(configuration, {}, {}).options
    host = PluginHost(Catalog(Registry(), Tables.of(options)), options.plugins)
    with closing(host):
        answers = {}
        for kind, name in chosen(options):
            plugin = host.ready(kind, name)
            answers[kind.name] = [plugin.distribution, str(ASK[kind](plugin.port, options))]
    sys.stdout.write(json.dumps(answers))


def chosen(options: ServiceOptions) -> Iterator[tuple[Kind, str]]:
    """Give the plugins that the options name for every job, and the operator's, which are named after their kinds."""
    autoscaler = options.autoscaler
    yield Kind.METRIC_COLLECTOR, str(autoscaler.collector)
    yield Kind.METRIC_EVALUATOR, str(autoscaler.evaluator)
    yield Kind.EVALUATOR_PLUGIN, autoscaler.custom_evaluators[0]
    yield Kind.SCALING_REALIZER, str(autoscaler.realizer)
    yield Kind.DECISION_PLUGIN, autoscaler.custom_executors[0]
    yield Kind.ALIGNMENT_MODE, str(autoscaler.alignment_mode)
    yield Kind.UNRECOVERABLE_ERROR_CHECKER, autoscaler.rollback.checkers[0]
    yield Kind.SCALING_POLICY, autoscaler.reactive.policy
    for kind in (Kind.RESOURCE_PROVIDER, Kind.SIGNAL_SOURCE, Kind.STATE_STORE, Kind.EVENT_HANDLER, Kind.JOB_LIST):
        yield kind, f"our-{kind.name.lower().replace('_', '-')}"


def _job(port: Any) -> Any:
    return asyncio.run(port.fetch()).jobs[0]


def _realize(port: Any, _: ServiceOptions) -> object:
    return asyncio.run(port.realize_parallelism_overrides(FLOUR, {VertexId("grind"): 4}))


def _collect(port: Any, _: ServiceOptions) -> object:
    return sorted(asyncio.run(port.update_metrics(FLOUR, material.NOW)).vertices)


def _evaluate(port: Any, options: ServiceOptions) -> object:
    answer = port.evaluate(options.autoscaler, material.watched(rate=400.0), timedelta())
    return round(answer.vertices[material.SOURCE].factor, 3)


def _override(port: Any, options: ServiceOptions) -> object:
    watched, metrics = material.watched(), material.healthy().vertices[material.SOURCE].metrics
    source = watched.topology.by_id[material.SOURCE]
    question = VertexQuestion(vertex=source, metrics=metrics, upstream={}, collected=watched)
    return {str(metric): round(value, 3) for metric, value in port.override(options.autoscaler, question).items()}


def _align(port: Any, _: ServiceOptions) -> object:
    vertex = Vertex(id=VertexId("v"), name="v", parallelism=2, max_parallelism=128)
    return port.align(asked(vertex, 5, 1, 128))


def _react(port: Any, _: ServiceOptions) -> object:
    topology, resources = material.topology(), AvailableResources(slots=8, total=8, workers=4)
    return sorted(port.decide(CONTEXT, resources, topology, topology.parallelism).values())


def _save(port: Any, _: ServiceOptions) -> object:
    return port.save(ORDERS, port.load(ORDERS).state, 0)


ASK: dict[Kind, Callable[[Any, ServiceOptions], object]] = {
    Kind.METRIC_COLLECTOR: _collect,
    Kind.METRIC_EVALUATOR: _evaluate,
    Kind.EVALUATOR_PLUGIN: _override,
    Kind.SCALING_REALIZER: _realize,
    Kind.DECISION_PLUGIN: lambda port, _: port.decide(CONTEXT, *material.rescale()),
    Kind.ALIGNMENT_MODE: _align,
    Kind.UNRECOVERABLE_ERROR_CHECKER: lambda port, _: port.check(CONTEXT, material.healthy()),
    Kind.SCALING_POLICY: _react,
    Kind.RESOURCE_PROVIDER: lambda port, _: asyncio.run(port.request(2)),
    Kind.SIGNAL_SOURCE: lambda port, _: asyncio.run(port.query(CONTEXT, ["price"]))["price"].value,
    Kind.STATE_STORE: _save,
    Kind.EVENT_HANDLER: lambda port, _: port.handle(event()),
    Kind.JOB_LIST: lambda port, _: _job(port).key,
}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
