"""Recorded runs of a whole service in front of a simulated cluster, and what replays them in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from headgate.config.other import OtherOptions
from headgate.model.orders import Given, Orders
from headgate.options.autoscaler import Reaction
from headgate.options.service import ClusterOptions, Pipeline, ServiceOptions
from headgate.replay.replaying import Report, replay
from headgate.replay.stretch import Stretch
from headgate.simulate import ServiceCurve, SimulatedJob, SimulatedVertex, steps
from headgate.testing.recorded import RecordedService
from headgate.testing.simulated import STEADY, steadily

OPTIONS = replace(STEADY, scale_down_interval=timedelta(seconds=40))

Start = Callable[..., RecordedService]
Replay = Callable[..., Report]


def job(name: str = "orders", *, peak: float = 2500.0, fall: int = 220) -> SimulatedJob:
    """Give a source and a sink under a load that grows after a minute and falls after less than four."""
    source = SimulatedVertex(
        name="source", curve=ServiceCurve(rate=1000.0), load=steps({0: 500.0, 60: peak, fall: 300.0})
    )
    sink = SimulatedVertex(name="sink", curve=ServiceCurve(rate=400.0), parallelism=2)
    return SimulatedJob(name=name, vertices=(source, sink))


def seconds(number: float) -> timedelta:
    """Give so much time since the begin."""
    return timedelta(seconds=number)


def service(log: Path, *jobs: SimulatedJob) -> RecordedService:
    """Start a service in front of some jobs, one unless told otherwise."""
    run = steadily(job(), autoscaler=OPTIONS, measurement_noise=0.05)
    return RecordedService(scenario=replace(run, jobs=jobs or (job(),)), root=log)


@pytest.fixture(scope="session")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> RecordedService:
    """Give a run with a pause, growth, a gap, another process, shrinking, and an option that somebody set."""
    run = service(tmp_path_factory.mktemp("eventful"))
    run.skips = lambda at: seconds(145) <= at <= seconds(170)
    run.advance_to(seconds(60))
    given = Given(at=run.now, by="alice@laptop", why="the fair")
    run.store.change_orders(None, lambda orders: replace(orders, pause=given))
    run.advance_to(seconds(90))
    run.store.change_orders(None, lambda _: Orders())
    run.advance_to(seconds(180))
    run.restart()
    run.advance_to(seconds(280))
    ordered = {"job.autoscaler.utilization.target": "0.6"}
    run.store.change_orders(None, lambda _: Orders(options=ordered))
    run.advance_to(seconds(360))
    return run


def fast_service(log: Path) -> RecordedService:
    """Start a service in front of a job that goes by its last change, whose load grows and falls."""
    run = service(log)
    cluster = replace(run.scenario.cluster, metric_refresh=seconds(1), cooldown=seconds(0), stabilization=seconds(0))
    options = replace(STEADY, reaction=Reaction.FAST)
    scenario = replace(run.scenario, cluster=cluster, autoscaler=options)
    return RecordedService(scenario=replace(scenario, jobs=(job(fall=120),)), root=run.root)


@pytest.fixture
def reacting(tmp_path: Path) -> RecordedService:
    """Give such a service that has just started."""
    return fast_service(tmp_path / "log")


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> RecordedService:
    """Give a run of such a service, with another process in between."""
    run = fast_service(tmp_path_factory.mktemp("quick"))
    run.advance_to(seconds(100))
    run.restart()
    run.advance_to(seconds(140))
    return run


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Give what starts a service with a log of its own."""
    return lambda *jobs: service(tmp_path / "log", *jobs)


@pytest.fixture(scope="session")
def replayed() -> Replay:
    """Give what replays a run from an instant on, all of it unless told otherwise, with other options if any."""

    def replayed(run: RecordedService, *, since: datetime | None = None, pattern: str = "*", **other: str) -> Report:
        begin = since or run.decisions[0].at
        stretch = Stretch(begin=begin, until=run.now, pattern=pattern)
        named = {name.replace("__", "-").replace("_", "."): text for name, text in other.items()}
        return replay(options_for(run.root), stretch, OtherOptions.read(named))

    return replayed


@pytest.fixture(scope="session")
def ambitious(eventful: RecordedService, replayed: Replay) -> Report:
    """Give the eventful run replayed with a lower utilization target, with which the first growth goes further."""
    return replayed(eventful, utilization_target="0.4")


def options_for(log: Path) -> ServiceOptions:
    """Give the options of a service whose log is somewhere."""
    usual = ServiceOptions(clusters=(ClusterOptions(name="prod", url="http://127.0.0.1:1"),))
    return replace(usual, pipeline=Pipeline.IN_PROCESS, log=replace(usual.log, path=str(log)))
