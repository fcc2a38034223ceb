"""
Plays the demo of reactive mode: a real reactive cluster, and Headgate, which starts and ends its TaskManagers.

The load rises, a TaskManager is killed, the load falls; a timeline and a judge stand at the end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from headgate.demo.loadjob import ENTRY_CLASS, FileProfile, LoadJobSpec
from headgate.demo.reactive.draw import DEATH, SLOTS, ReactiveDraw, draw_reactive
from headgate.demo.reactive.judge import PhaseVerdict, judge_phase
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

PHASE_LIMIT = timedelta(seconds=90)
"""A third of it is usual. The first phase that takes longer is the last, so all of it takes less than five minutes."""

_LENGTH_LIMIT_S = 265.0
"""Of all phases together, from when the cluster was started."""
_AHEAD = timedelta(milliseconds=500)
"""How long before it holds a rate is written, so that all readers know it in time."""
_LOOK_EVERY_S = 0.5


def play_reactive(
    seed: int,
    *,
    dry_run: bool = False,
    limit: timedelta = PHASE_LIMIT,
    keep_logs: Path | None = None,
    console: Console | None = None,
) -> int:
    """
    Run the demo and return the exit status; afterwards no process and no temporary directory is left.

    For the main thread: see `scenery.perform`.

    Args:
        seed: fixes the workload.
        dry_run: Headgate only advises: no TaskManager is ever started, and the judge must find the first phase failing.
        limit: of each phase, which is over as soon as it is passed.
        keep_logs: directory that keeps everything that is written; by default a temporary one, deleted.
        console: standard output by default.

    Returns:
        0 if every phase ended on the TaskManagers that it needed, 1 if not, 130 or 143 if a signal ended the demo.

    Raises:
        HeadgateError: something could not be fetched or started, or Headgate ended during the demo.
    """
    workload = draw_reactive(seed)
    return perform(
        lambda scenery: _perform(workload, limit, scenery, dry_run=dry_run), keep_logs=keep_logs, console=console
    )


def _perform(workload: ReactiveDraw, limit: timedelta, scenery: Scenery, *, dry_run: bool) -> bool:
    load = FileProfile(path=scenery.directory / "load")
    spec = workload.spec(epoch=datetime.now(UTC), profile=load)
    cluster = _cluster(spec, scenery)
    with ExitStack() as running:
        with steps(scenery.console) as tell:
            tell(f"starting a reactive Flink cluster with its job, and no TaskManager; each will have {SLOTS} slots")
            running.enter_context(cluster)
            running.callback(end_workers, cluster.directory / FOLDER)
            tell("starting Headgate, which is told the cluster's address and how to start TaskManagers")
            service = running.enter_context(_service(scenery, cluster, dry_run=dry_run))
            service.await_ready()
        watcher, folder = ReactiveWatcher(cluster.url, spec), WorkerFolder(cluster.directory / FOLDER)
        play = _Play(workload=workload, limit=limit, console=scenery.console, epoch=spec.epoch, load=load)
        verdicts = play.run(watcher, service, folder)
        scenery.console.print("  stopping everything", style="dim")
    scenery.console.print(draw_story(play.story, workload, width=scenery.console.width))
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
    limit: timedelta
    console: Console
    epoch: datetime
    load: FileProfile
    story: Story = field(default_factory=Story)

    def run(self, watcher: ReactiveWatcher, service: Service, folder: WorkerFolder) -> Sequence[PhaseVerdict]:
        """Go through the phases until one of them is not passed; return the verdicts on all."""
        numbers = range(len(self.workload.phases))
        for number in numbers:
            self._begin(number, folder)
            while not (verdict := self._verdict(number)).passed and not self._is_late(number):
                self._see(watcher.look(datetime.now(UTC)))
                for saying in service.sayings():
                    self._tell(Happening(at_s=self._at_s(saying.at), what=saying.message, said_as=saying.what))
                time.sleep(_LOOK_EVERY_S)
            if not verdict.passed:
                break
        return [self._verdict(number) for number in numbers]

    def _verdict(self, number: int) -> PhaseVerdict:
        return judge_phase(self.workload, number, self.story.seen_in(number))

    def _is_late(self, number: int) -> bool:
        at_s = self._at_s(datetime.now(UTC))
        return at_s > min(self.story.begun_s[number] + self.limit.total_seconds(), _LENGTH_LIMIT_S)

    def _at_s(self, at: datetime) -> float:
        return (at - self.epoch).total_seconds()

    def _begin(self, number: int, folder: WorkerFolder) -> None:
        phase, now = self.workload.phases[number], datetime.now(UTC)
        self.load.set_rate(now - self.epoch + _AHEAD, phase.rate_per_s)
        needed, at_s = self.workload.workers(phase), self._at_s(now)
        self.story.begun_s.append(at_s)
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
