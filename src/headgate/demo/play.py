"""Plays the demo: a real cluster, a job whose load steps up and down, Headgate beside it, and a judge at the end."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from headgate.demo import interruption
from headgate.demo.draw import Draw, draw
from headgate.demo.judge import judge
from headgate.demo.loadjob import ENTRY_CLASS, build_jar
from headgate.demo.scene import Scene
from headgate.demo.service import Service
from headgate.demo.submit import submit_job
from headgate.demo.verdicts import summary, verdict_table
from headgate.demo.view import choose_view
from headgate.demo.watch import Watcher
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.progress import Progress
from headgate.engines.flink.local.runtime import FlinkRuntime

PHASE_LENGTH = timedelta(seconds=60)
"""Three of them, and the start of everything, take less than four minutes."""

_LEAD = timedelta(seconds=5)
"""From the job's submission to the first phase: long enough for all tasks to run."""

_PREFIX = "headgate-demo-"
_LOOK_EVERY_S = 1.0
_TASK_MANAGERS = 4
_SLOTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """What the demo needs to be there before it begins."""

    runtime: FlinkRuntime
    jar: Path
    directory: Path
    console: Console


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

    For the main thread: Ctrl-C and SIGTERM are handled meanwhile.

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
    shown = console or Console()
    try:
        with interruption.raised(), _directory(keep_logs) as directory:
            if keep_logs is not None:
                shown.print(f"  logs are kept in {directory}", style="dim", highlight=False)
            return _perform(draw(seed), phase, _prepare(directory, shown), dry_run=dry_run)
    except interruption.Interruption as interrupted:
        shown.print("stopped; everything that was started has ended")
        return interrupted.exit_code


@contextmanager
def _directory(keep_logs: Path | None) -> Iterator[Path]:
    """Give an empty directory, kept inside `keep_logs`, or deleted."""
    with ExitStack() as temporary:
        if keep_logs is None:
            made = temporary.enter_context(tempfile.TemporaryDirectory(prefix=_PREFIX))
        else:
            keep_logs.mkdir(parents=True, exist_ok=True)
            made = tempfile.mkdtemp(prefix=_PREFIX, dir=keep_logs)
        yield Path(made).absolute()


@contextmanager
def _steps(console: Console) -> Iterator[Progress]:
    """Show that something goes on, and keep a line of each step."""
    with console.status("") as status:

        def show(line: str) -> None:
            console.print(f"  {line}", style="dim", highlight=False)
            status.update(line)

        yield show


def _prepare(directory: Path, console: Console) -> _Stage:
    """Find or fetch what is needed, which may take minutes the first time; the demo's own time begins after it."""
    with _steps(console) as tell:
        tell("looking for Java and Flink (fetched once, about 330 MB)")
        runtime = find_runtime(progress=tell)
        jar = build_jar(runtime.java, runtime.home, progress=tell)
    return _Stage(runtime=runtime, jar=jar, directory=directory, console=console)


def _perform(workload: Draw, phase: timedelta, stage: _Stage, *, dry_run: bool) -> int:
    with ExitStack() as running:
        with _steps(stage.console) as tell:
            cluster = _cluster(stage)
            tell("starting Headgate, which is told the cluster's address and nothing else")
            service = running.enter_context(_service(stage, cluster.url, dry_run=dry_run))
            tell(f"starting a Flink cluster: {_TASK_MANAGERS} TaskManagers with {_SLOTS} slots each")
            running.enter_context(cluster)
            service.await_ready()
            tell("submitting the job")
            scene, watcher = _submit(workload, phase, stage, cluster.url)
        scene = _watch(replace(scene, dry_run=dry_run), watcher, service, stage.console)
        stage.console.print("  stopping everything", style="dim")
        # Before the cluster, or its last words would be that the cluster is gone.
        service.close()
    verdicts = judge(workload, scene.timeline, phase)
    stage.console.print(verdict_table(verdicts))
    stage.console.print(summary(verdicts, dry_run=dry_run))
    return 0 if all(verdict.passed for verdict in verdicts) else 1


def _cluster(stage: _Stage) -> LocalCluster:
    return LocalCluster(
        task_managers=_TASK_MANAGERS, slots=_SLOTS, directory=stage.directory / "flink", runtime=stage.runtime
    )


def _service(stage: _Stage, url: str, *, dry_run: bool) -> Service:
    directory = stage.directory / "headgate"
    directory.mkdir(exist_ok=True)
    return Service(url, directory, java=stage.runtime.java, dry_run=dry_run)


def _submit(workload: Draw, phase: timedelta, stage: _Stage, url: str) -> tuple[Scene, Watcher]:
    epoch = datetime.now(UTC) + _LEAD
    spec = workload.spec(epoch=epoch, phase_length=phase)
    job_id = submit_job(url, stage.jar, entry_class=ENTRY_CLASS, arguments=spec.arguments(), parallelism=workload.start)
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
