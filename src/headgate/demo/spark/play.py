"""Plays the demo of a Spark application: a real standalone cluster, an application whose load steps, and a judge."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from headgate.demo.saying import Saying
from headgate.demo.scene import Scene
from headgate.demo.scenery import stage, steps
from headgate.demo.spark.draw import (
    MOST_EXECUTORS,
    PARTITIONS,
    TRIGGER_S,
    UTILIZATION_TARGET,
    SparkDraw,
    draw_spark,
)
from headgate.demo.spark.judge import judge_spark
from headgate.demo.spark.progress import EventLog
from headgate.demo.spark.verdicts import spark_summary, spark_table
from headgate.demo.spark.watch import SparkWatcher, read_log
from headgate.demo.view import choose_view
from headgate.engines.spark.local.application import Application
from headgate.engines.spark.local.cluster import StandaloneCluster
from headgate.engines.spark.source.profile import parse_profile
from headgate.errors import PermanentError

SPARK_PHASE_LENGTH = timedelta(seconds=60)
"""Three of them, and the start of everything, take less than four minutes."""

PROGRAM = Path(__file__).with_name("application.py")

_LEAD = timedelta(seconds=15)
"""From the load's start to the first phase: the first batch on new executors is slow."""

_START_LIMIT = timedelta(seconds=120)
_LOOK_EVERY_S = 1.0
_STARTED = re.compile(r"the load starts at (\S+)")


def play_spark(
    seed: int,
    *,
    dry_run: bool = False,
    phase: timedelta = SPARK_PHASE_LENGTH,
    keep_logs: Path | None = None,
    console: Console | None = None,
) -> int:
    """
    Run the demo and return the exit status; afterwards no process and no temporary directory is left.

    For the main thread: see `scenery.perform`.

    Args:
        seed: fixes the load.
        dry_run: Headgate only advises, so that the judge must find phases without their optimum.
        phase: length of each phase; less than 40 s is too short for Headgate to settle.
        keep_logs: directory that keeps everything that is written; by default a temporary one, deleted.
        console: standard output by default.

    Returns:
        0 if every phase reached its optimum on a straight way, 1 if not, 130 or 143 if a signal ended the demo.

    Raises:
        HeadgateError: Java could not be fetched, something did not start, or the application ended during the demo.
    """
    workload = draw_spark(seed)

    def perform(directory: Path, shown: Console) -> bool:
        return _Play(workload=workload, phase=phase, dry_run=dry_run, directory=directory, console=shown).run()

    return stage(perform, keep_logs=keep_logs, console=console)


def settings(events: Path, *, dry_run: bool) -> Mapping[str, str]:
    """
    Return the configuration of the application: where its event log goes, and that Headgate decides within seconds.

    Args:
        events: an empty directory.
        dry_run: whether Headgate may only say what it would do.
    """
    autoscaler = {
        "metrics.window": "15 s",
        "stabilization.interval": "4 s",
        "scale-down.interval": "0 s",
        "scale-down.max-factor": "1",
        "utilization.target": str(UTILIZATION_TARGET),
        "utilization.max": "0.8",
        "utilization.min": "0.6",
        "vertex.max-parallelism": str(MOST_EXECUTORS),
    }
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.headgate.mode": "advise" if dry_run else "act",
        "spark.headgate.collect.interval": "1 s",
        "spark.headgate.decide.interval": "2 s",
        **{f"spark.headgate.job.autoscaler.{key}": value for key, value in autoscaler.items()},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Play:
    """One run."""

    workload: SparkDraw
    phase: timedelta
    dry_run: bool
    directory: Path
    console: Console

    def run(self) -> bool:
        """Start everything, watch it, end it, and judge; tell whether every phase passed."""
        with ExitStack() as running:
            with steps(self.console) as tell:
                tell(f"starting a standalone Spark cluster: {MOST_EXECUTORS} workers with one core each")
                cluster = StandaloneCluster(workers=MOST_EXECUTORS, directory=self.directory / "spark")
                running.enter_context(cluster)
                tell(f"starting {PROGRAM.name}, which gets all of them at first; two of its lines are Headgate's:")
                for line in headgate_lines():
                    tell(f"    {line}")
                application = self._start(cluster)
                start = _await_start(application)
            watcher = SparkWatcher(cluster.status, EventLog(self._events), load=parse_profile(self._load), start=start)
            scene = self._watch(watcher, _Listener(application), start + _LEAD)
            self.console.print("  stopping everything", style="dim")
        verdicts = judge_spark(self.workload, scene.timeline, watcher.batches, epoch=scene.epoch, phase=self.phase)
        self.console.print(spark_table(verdicts, self.workload))
        self.console.print(spark_summary(verdicts, dry_run=self.dry_run))
        return all(verdict.passed for verdict in verdicts)

    @property
    def _events(self) -> Path:
        return self.directory / "events"

    @property
    def _load(self) -> str:
        return self.workload.profile(lead_s=_LEAD.total_seconds(), phase_s=self.phase.total_seconds())

    def _start(self, cluster: StandaloneCluster) -> Application:
        self._events.mkdir()
        return cluster.run(
            PROGRAM,
            self._load,
            str(PARTITIONS),
            str(self.workload.row_ms),
            f"{TRIGGER_S:g} seconds",
            str(self.directory / "checkpoint"),
            conf=settings(self._events, dry_run=self.dry_run),
        )

    def _watch(self, watcher: SparkWatcher, listener: _Listener, epoch: datetime) -> Scene:
        """Look and draw once a second until the last phase is over; return the last scene."""
        scene = Scene(
            workload=self.workload,
            phase_length=self.phase,
            epoch=epoch,
            at_s=-_LEAD.total_seconds(),
            dry_run=self.dry_run,
        )
        with choose_view(self.console) as view:
            while scene.at_s < scene.length_s:
                now = datetime.now(UTC)
                seen = watcher.look(now, epoch)
                scene = replace(
                    scene,
                    at_s=(now - epoch).total_seconds(),
                    timeline=(*scene.timeline, seen) if seen else scene.timeline,
                    sayings=(*scene.sayings, *listener.sayings(now)),
                )
                view.show(scene)
                time.sleep(_LOOK_EVERY_S)
        return scene


class _Listener:
    """Reads what Headgate says in the application's output."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._read = 0

    def sayings(self, now: datetime) -> list[Saying]:
        """
        Return what was said since the last call.

        Raises:
            PermanentError: the application has ended; the text holds its last lines.
        """
        _check(self._application)
        lines = self._application.said().splitlines()
        new, self._read = lines[self._read :], len(lines)
        return read_log(new, now)


def headgate_lines() -> list[str]:
    """Return the lines of the application that are Headgate's."""
    return [line.strip() for line in PROGRAM.read_text(encoding="utf-8").splitlines() if "<-- Headgate" in line]


def _await_start(application: Application) -> datetime:
    deadline = time.monotonic() + _START_LIMIT.total_seconds()
    while time.monotonic() < deadline:
        if found := _STARTED.search(application.said()):
            return datetime.fromisoformat(found[1])
        _check(application)
        time.sleep(_LOOK_EVERY_S / 5)
    message = f"the application did not start within {_START_LIMIT}; its last lines:\n{application.last_words()}"
    raise PermanentError(message)


def _check(application: Application) -> None:
    if not application.running:
        message = f"the application ended during the demo; its last lines:\n{application.last_words()}"
        raise PermanentError(message)
