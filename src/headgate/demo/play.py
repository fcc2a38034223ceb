"""Plays the demo: a real cluster, a job whose load steps up and down, Headgate beside it, and a judge at the end."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from headgate.demo.draw import Draw, draw
from headgate.demo.judge import judge
from headgate.demo.loadjob import ENTRY_CLASS
from headgate.demo.scene import Scene
from headgate.demo.scenery import Scenery, perform, steps
from headgate.demo.service import Service, configuration
from headgate.demo.submit import submit_job
from headgate.demo.verdicts import summary, verdict_table
from headgate.demo.view import choose_view
from headgate.demo.watch import Watcher
from headgate.engines.flink.local.cluster import LocalCluster

PHASE_LENGTH = timedelta(seconds=60)
"""Three of them, and the start of everything, take less than four minutes."""

_LEAD = timedelta(seconds=5)
"""From the job's submission to the first phase: long enough for all tasks to run."""

_LOOK_EVERY_S = 1.0
_TASK_MANAGERS = 4
_SLOTS = 2


def play(
    seed: int,
    *,
    dry_run: bool = False,
    phase: timedelta = PHASE_LENGTH,
    keep_logs: Path | None = None,
    console: Console | None = None,
) -> int:
    """
    Run the demo and return the exit status; afterwards no process and no temporary directory is left.

    For the main thread: see `scenery.perform`.

    Args:
        seed: fixes the workload.
        dry_run: Headgate only advises, so that the judge must find phases without their optimum.
        phase: length of each phase; less than 40 s is too short for Headgate to settle.
        keep_logs: directory that keeps everything that is written; by default a temporary one, deleted.
        console: standard output by default.

    Returns:
        0 if every phase reached its optimum, 1 if not, 130 or 143 if a signal ended the demo.

    Raises:
        HeadgateError: something could not be fetched or started, or Headgate ended during the demo.
    """
    workload = draw(seed)
    return perform(
        lambda scenery: _perform(workload, phase, scenery, dry_run=dry_run), keep_logs=keep_logs, console=console
    )


def _perform(workload: Draw, phase: timedelta, scenery: Scenery, *, dry_run: bool) -> bool:
    with ExitStack() as running:
        with steps(scenery.console) as tell:
            cluster = _cluster(scenery)
            tell("starting Headgate, which is told the cluster's address and nothing else")
            service = running.enter_context(_service(scenery, cluster.url, dry_run=dry_run))
            tell(f"starting a Flink cluster: {_TASK_MANAGERS} TaskManagers with {_SLOTS} slots each")
            running.enter_context(cluster)
            service.await_ready()
            tell("submitting the job")
            scene, watcher = _submit(workload, phase, scenery, cluster.url)
        scene = _watch(replace(scene, dry_run=dry_run), watcher, service, scenery.console)
        scenery.console.print("  stopping everything", style="dim")
        # Before the cluster, or its last words would be that the cluster is gone.
        service.close()
    verdicts = judge(workload, scene.timeline, phase)
    scenery.console.print(verdict_table(verdicts))
    scenery.console.print(summary(verdicts, dry_run=dry_run))
    return all(verdict.passed for verdict in verdicts)


def _cluster(scenery: Scenery) -> LocalCluster:
    return LocalCluster(
        task_managers=_TASK_MANAGERS, slots=_SLOTS, directory=scenery.directory / "flink", runtime=scenery.runtime
    )


def _service(scenery: Scenery, url: str, *, dry_run: bool) -> Service:
    directory = scenery.part("headgate")
    return Service(configuration(url, directory, dry_run=dry_run), directory, java=scenery.runtime.java)


def _submit(workload: Draw, phase: timedelta, scenery: Scenery, url: str) -> tuple[Scene, Watcher]:
    epoch = datetime.now(UTC) + _LEAD
    spec = workload.spec(epoch=epoch, phase_length=phase)
    job_id = submit_job(
        url, scenery.jar, entry_class=ENTRY_CLASS, arguments=spec.arguments(), parallelism=workload.start
    )
    scene = Scene(workload=workload, phase_length=phase, epoch=epoch, at_s=-_LEAD.total_seconds())
    return scene, Watcher(url, job_id, spec)


def _watch(scene: Scene, watcher: Watcher, service: Service, console: Console) -> Scene:
    """Look and draw once a second until the last phase is over; return the last scene."""
    with choose_view(console) as view:
        while scene.at_s < scene.length_s:
            seen = watcher.look(datetime.now(UTC))
            scene = replace(
                scene,
                at_s=(datetime.now(UTC) - scene.epoch).total_seconds(),
                timeline=(*scene.timeline, seen) if seen else scene.timeline,
                sayings=(*scene.sayings, *service.sayings()),
            )
            view.show(scene)
            time.sleep(_LOOK_EVERY_S)
    return scene
