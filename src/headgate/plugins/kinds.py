"""The kinds of plugins: the entry point group of each, the port that it implements, and where it runs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from headgate.ports import (
    AlignmentMode,
    DecisionPlugin,
    EvaluatorPlugin,
    EventHandler,
    JobListFetcher,
    MetricCollector,
    MetricEvaluator,
    ResourceProvider,
    ScalingPolicy,
    ScalingRealizer,
    SignalSource,
    StateStore,
    UnrecoverableErrorChecker,
)


class Kind(StrEnum):
    """A kind of plugin; its value is the entry point group."""

    METRIC_COLLECTOR = "headgate.metric_collectors"
    METRIC_EVALUATOR = "headgate.metric_evaluators"
    EVALUATOR_PLUGIN = "headgate.evaluator_plugins"
    SCALING_REALIZER = "headgate.scaling_realizers"
    DECISION_PLUGIN = "headgate.decision_plugins"
    ALIGNMENT_MODE = "headgate.alignment_modes"
    UNRECOVERABLE_ERROR_CHECKER = "headgate.unrecoverable_error_checkers"
    SIGNAL_SOURCE = "headgate.signal_sources"
    STATE_STORE = "headgate.state_stores"
    EVENT_HANDLER = "headgate.event_handlers"
    JOB_LIST = "headgate.job_lists"
    SCALING_POLICY = "headgate.scaling_policies"
    RESOURCE_PROVIDER = "headgate.resource_providers"

    @property
    def noun(self) -> str:
        """What one is called in a sentence."""
        return self.name.lower().replace("_", " ")

    @property
    def port(self) -> Any:
        """The protocol that it implements."""
        return PORTS[self]

    @property
    def is_isolated(self) -> bool:
        """
        Whether somebody else's runs in a process of its own.

        These only answer, so one that hangs can be killed and asked anew. The others act on the outside world, and
        to kill one in the middle would leave nobody who knows what it did.
        """
        return self in ISOLATED


PORTS: Mapping[Kind, Any] = {
    Kind.METRIC_COLLECTOR: MetricCollector,
    Kind.METRIC_EVALUATOR: MetricEvaluator,
    Kind.EVALUATOR_PLUGIN: EvaluatorPlugin,
    Kind.SCALING_REALIZER: ScalingRealizer,
    Kind.DECISION_PLUGIN: DecisionPlugin,
    Kind.ALIGNMENT_MODE: AlignmentMode,
    Kind.UNRECOVERABLE_ERROR_CHECKER: UnrecoverableErrorChecker,
    Kind.SIGNAL_SOURCE: SignalSource,
    Kind.STATE_STORE: StateStore,
    Kind.EVENT_HANDLER: EventHandler,
    Kind.JOB_LIST: JobListFetcher,
    Kind.SCALING_POLICY: ScalingPolicy,
    Kind.RESOURCE_PROVIDER: ResourceProvider,
}

ISOLATED = {
    Kind.METRIC_COLLECTOR,
    Kind.METRIC_EVALUATOR,
    Kind.EVALUATOR_PLUGIN,
    Kind.DECISION_PLUGIN,
    Kind.ALIGNMENT_MODE,
    Kind.UNRECOVERABLE_ERROR_CHECKER,
    Kind.SCALING_POLICY,
}
