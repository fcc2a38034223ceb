"""
The ports: what Headgate needs of an engine, a store and a listener. Each docstring is the contract.

Values go in, values come out. Errors are those of `headgate.errors`: transient ones are tried again in a later cycle,
permanent ones are reported and the job is left alone. Whatever an implementation raises otherwise is a bug in it.
"""

from headgate.ports.collecting import FailureHistory, MetricCollector, Missing, SampleSink, SignalSource
from headgate.ports.deciding import (
    AlignmentMode,
    AlignmentQuestion,
    Change,
    DecisionPlugin,
    DecisionSink,
    Unrecoverable,
    UnrecoverableErrorChecker,
)
from headgate.ports.evaluating import (
    Candidate,
    CollectedMetrics,
    DowntimeModel,
    EvaluatorPlugin,
    FleetEvaluator,
    MetricEvaluator,
    VertexQuestion,
)
from headgate.ports.events import EventHandler
from headgate.ports.jobs import JobContext, JobList, JobListFetcher
from headgate.ports.offsets import Begins, EndOffsets, Ends
from headgate.ports.reacting import AvailableResources, ResourceProvider, ScalingPolicy, Workers
from headgate.ports.realizing import ScalingRealizer
from headgate.ports.recording import Circumstances, CircumstanceSink
from headgate.ports.state import Lease, StateStore

__all__ = [
    "AlignmentMode",
    "AlignmentQuestion",
    "AvailableResources",
    "Begins",
    "Candidate",
    "Change",
    "CircumstanceSink",
    "Circumstances",
    "CollectedMetrics",
    "DecisionPlugin",
    "DecisionSink",
    "DowntimeModel",
    "EndOffsets",
    "Ends",
    "EvaluatorPlugin",
    "EventHandler",
    "FailureHistory",
    "FleetEvaluator",
    "JobContext",
    "JobList",
    "JobListFetcher",
    "Lease",
    "MetricCollector",
    "MetricEvaluator",
    "Missing",
    "ResourceProvider",
    "SampleSink",
    "ScalingPolicy",
    "ScalingRealizer",
    "SignalSource",
    "StateStore",
    "Unrecoverable",
    "UnrecoverableErrorChecker",
    "VertexQuestion",
    "Workers",
]
