"""
Headgate on a simulated cluster: the same control loop, evaluator and options as the service's, with a clock of its own.

    from datetime import timedelta
    from headgate.simulate import Scenario, Simulation, job, steps, vertex

    words = job(
        "wordcount",
        vertex("sentences", 1_000_000, load=steps({0: 2_000, 1800: 16_000}), partitions=12),
        vertex("split", 1_700, selectivity=20),
        vertex("count", 17_000, state_bytes=2e9),
    )
    run = Simulation(Scenario(jobs=(words,), duration=timedelta(hours=2))).run()
    run.job.parallelism  # at the end
    run.job.rescales  # when, and from what to what

`Simulation.advance_to` goes step by step: between two calls, `simulation.cluster` may be looked at and changed.
"""

from headgate.engines.simulated.curve import CurvePoint, ServiceCurve
from headgate.engines.simulated.failures import Failure, FailureKind, RandomFailures
from headgate.engines.simulated.graph import SimulatedEdge, SimulatedJob, SimulatedVertex
from headgate.engines.simulated.load import Load, LoadPoint
from headgate.engines.simulated.settings import ClusterSettings, RestartSettings, TaskManagerSettings
from headgate.engines.simulated.sickness import Sickness, SicknessKind
from headgate.simulate.building import constant, job, measured, sine, steps, trace, vertex
from headgate.simulate.reading import read_scenario
from headgate.simulate.recording import Frame, JobRun, Run
from headgate.simulate.scenario import Scenario
from headgate.simulate.simulation import Simulation, simulate

__all__ = [
    "ClusterSettings",
    "CurvePoint",
    "Failure",
    "FailureKind",
    "Frame",
    "JobRun",
    "Load",
    "LoadPoint",
    "RandomFailures",
    "RestartSettings",
    "Run",
    "Scenario",
    "ServiceCurve",
    "Sickness",
    "SicknessKind",
    "SimulatedEdge",
    "SimulatedJob",
    "SimulatedVertex",
    "Simulation",
    "TaskManagerSettings",
    "constant",
    "job",
    "measured",
    "read_scenario",
    "simulate",
    "sine",
    "steps",
    "trace",
    "vertex",
]
