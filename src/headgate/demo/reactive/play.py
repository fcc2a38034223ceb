"""
Plays the demo of reactive mode: a real reactive cluster, and Headgate, which starts and ends its TaskManagers.

The load rises, a TaskManager is killed, the load falls; a timeline and a judge stand at the end.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from headgate.demo.loadjob import ENTRY_CLASS, LoadJobSpec
from headgate.demo.reactive.draw import DEATH, SLOTS, ReactiveDraw, draw_reactive
from headgate.demo.reactive.judge import judge_reactive
from headgate.demo.reactive.service import reactive_configuration
from headgate.demo.reactive.timeline import Happening, Story, draw_story, noticed
from headgate.demo.reactive.verdicts import reactive_summary, reactive_table
from headgate.demo.reactive.watch import ReactiveWatcher, Sight
from headgate.demo.scenery import Scenery, perform, steps
from headgate.demo.service import Service
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.runtime import Application
from headgate.engines.flink.local.settings import REACTIVE
from headgate.providers.folder import WorkerFolder, end_workers
from headgate.providers.local import FOLDER

REACTIVE_PHASE_LENGTH = timedelta(seconds=55)
"""Four of them, and the start of everything, take less than five minutes."""

_LEAD = timedelta(seconds=25)
"""From the start of the cluster to the first phase: long enough for Headgate to start the first TaskManager."""

_LOOK_EVERY_S = 0.5


def play_reactive(
    seed: int,
    *,
    dry_run: bool = False,
    phase: timedelta = REACTIVE_PHASE_LENGTH,
    keep_logs: Path | None = None,
    console: Console | None = None,
) -> int:
    """
    Run the demo and return the exit status; afterwards no process and no temporary directory is left.

    For the main thread: see `scenery.perform`.

    Args:
        seed: fixes the workload.
        dry_run: Headgate only advises: no TaskManager is ever started, and the judge must find all phases failing.
        phase: length of each phase; less than 40 s is too short for Headgate to settle.
        keep_logs: directory that keeps everything that is written; by default a temporary one, deleted.
        console: standard output by default.

    Returns:
        0 if every phase ended on the TaskManagers that it needed, 1 if not, 130 or 143 if a signal ended the demo.

    Raises:
        HeadgateError: something could not be fetched or started, or Headgate ended during the demo.
    """
    workload = draw_reactive(seed)
    return perform(
        lambda scenery: _perform(workload, phase, scenery, dry_run=dry_run), keep_logs=keep_logs, console=console
    )


def _perform(workload: ReactiveDraw, phase: timedelta, scenery: Scenery, *, dry_run: bool) -> bool:
    spec = workload.spec(epoch=datetime.now(UTC) + _LEAD, phase_length=phase)
    cluster = _cluster(spec, scenery)
    with ExitStack() as running:
        with steps(scenery.console) as tell:
            tell(f"starting a reactive Flink cluster with its job, and no TaskManager; each will have {SLOTS} slots")
            running.enter_context(cluster)
            running.callback(end_workers, cluster.directory / FOLDER)
            tell("starting Headgate, which is told the cluster's address and how to start TaskManagers")
            service = running.enter_context(_service(scenery, cluster, dry_run=dry_run))
            service.await_ready()
        play = _Play(workload=workload, phase=phase, console=scenery.console, epoch=spec.epoch)
        play.watch(ReactiveWatcher(cluster.url, spec), service, WorkerFolder(cluster.directory / FOLDER))
        scenery.console.print("  stopping everything", style="dim")
    verdicts = judge_reactive(workload, play.story.sights, phase)
    scenery.console.print(draw_story(play.story, workload, phase, width=scenery.console.width))
    scenery.console.print(reactive_table(verdicts))
    scenery.console.print(reactive_summary(verdicts, dry_run=dry_run))
    return all(verdict.passed for verdict in verdicts)


def _cluster(spec: LoadJobSpec, scenery: Scenery) -> LocalCluster:
    job = Application(jar=scenery.jar, entry_class=ENTRY_CLASS, arguments=tuple(spec.arguments()))
    return LocalCluster(
        runtime=replace(scenery.runtime, application=job),
        task_managers=0,
        slots=SLOTS,
        settings=REACTIVE,
        directory=scenery.directory / "flink",
    )


def _service(scenery: Scenery, cluster: LocalCluster, *, dry_run: bool) -> Service:
    directory = scenery.part("headgate")
    told = reactive_configuration(cluster.url, directory, cluster=cluster.directory, jar=scenery.jar, dry_run=dry_run)
    return Service(told, directory, java=scenery.runtime.java)


@dataclass(slots=True, kw_only=True)
class _Play:
    """The run of the phases: it looks, tells what happens as it happens, and kills the TaskManager that has to die."""

    workload: ReactiveDraw
    phase: timedelta
    console: Console
    epoch: datetime
    story: Story = field(default_factory=Story)

    def watch(self, watcher: ReactiveWatcher, service: Service, folder: WorkerFolder) -> None:
        """Look twice a second until the last phase is over."""
        begun, length_s = -1, self.phase.total_seconds()
        while (at_s := self._at_s(now := datetime.now(UTC))) < length_s * len(self.workload.phases):
            if at_s >= length_s * (begun + 1):
                begun += 1
                self._begin(begun, at_s, folder)
            self._see(watcher.look(now))
            for saying in service.sayings():
                self._tell(Happening(at_s=self._at_s(saying.at), what=saying.message, said_as=saying.what))
            time.sleep(_LOOK_EVERY_S)

    def _at_s(self, at: datetime) -> float:
        return (at - self.epoch).total_seconds()

    def _begin(self, number: int, at_s: float, folder: WorkerFolder) -> None:
        phase = self.workload.phases[number]
        needed = self.workload.workers(phase)
        heading = f"{phase.title}: {phase.rate_per_s:.0f} records/s, which need {needed} TaskManager{'s'[: needed > 1]}"
        self._tell(Happening(at_s=at_s, what=heading, is_phase=True))
        if number == DEATH:
            self._tell(Happening(at_s=at_s, what=_kill_one(folder)))

    def _see(self, seen: Sight | None) -> None:
        if seen is not None:
            for what in noticed(self.story.now, seen):
                self._tell(Happening(at_s=seen.at_s, what=what))
            self.story.sights.append(seen)

    def _tell(self, happening: Happening) -> None:
        self.story.happenings.append(happening)
        style = "bold" if happening.is_phase else None
        self.console.print(happening.line, style=style, markup=False, highlight=False, soft_wrap=True)


def _kill_one(folder: WorkerFolder) -> str:
    """Kill the youngest TaskManager as a crash would, and say which."""
    with folder.locked():
        living = folder.living()
        if not living:
            return "there is no TaskManager that could be killed"
        folder.kill(living[-1])
    return f"TaskManager {living[-1].name}, process {living[-1].pid}, was killed with SIGKILL"
