"""Plays the Kafka demo: a real broker and cluster, a job between two topics, Headgate beside it, and a judge."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console, Group
from rich.text import Text

from headgate.demo.judge import judge
from headgate.demo.kafka.broker import Broker
from headgate.demo.kafka.draw import AWAY_AFTER, AWAY_FOR, COST_US, KafkaDraw, draw_kafka
from headgate.demo.kafka.job import ENTRY_CLASS, build_kafka_jar
from headgate.demo.kafka.judge import AWAY, Claim, claims
from headgate.demo.kafka.topics import PARTITIONS, Writer, committed_records
from headgate.demo.kafka.watch import KafkaWatcher
from headgate.demo.scene import Scene
from headgate.demo.scenery import Scenery, perform, steps
from headgate.demo.service import Service, configuration
from headgate.demo.submit import submit_job
from headgate.demo.verdicts import verdict_table
from headgate.demo.view import choose_view
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.errors import UnreachableError

KAFKA_PHASE_LENGTH = timedelta(seconds=75)
"""Where rescales stop a job for seconds, as on a busy machine, it is made smaller only for a load that has lasted."""

_LEAD = timedelta(seconds=5)
_LOOK_EVERY_S = 1.0
_TASK_MANAGERS, _SLOTS = 2, 4
_STARTING = timedelta(seconds=13)
"""What a broker takes that was killed: it waits for the session of the one that it was."""
_COUNTED_WITHIN = timedelta(seconds=45)
"""After the end, until the job has copied what still waited."""


def play_kafka(
    seed: int,
    *,
    dry_run: bool = False,
    phase: timedelta = KAFKA_PHASE_LENGTH,
    keep_logs: Path | None = None,
    console: Console | None = None,
) -> int:
    """
    Run the demo and return the exit status; afterwards no process and no temporary directory is left.

    For the main thread: see `scenery.perform`.

    Args:
        seed: fixes the workload.
        dry_run: Headgate only advises, so that the judge must find it failing.
        phase: length of each phase.
        keep_logs: directory that keeps everything that is written; by default a temporary one, deleted.
        console: standard output by default.

    Returns:
        0 if everything is as it should be, 1 if not, 130 or 143 if a signal ended the demo.

    Raises:
        HeadgateError: something could not be fetched or started, or Headgate ended during the demo.
    """
    workload = draw_kafka(seed)
    return perform(
        lambda scenery: _perform(workload, phase, scenery, dry_run=dry_run), keep_logs=keep_logs, console=console
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """Everything that runs."""

    broker: Broker
    writer: Writer
    watcher: KafkaWatcher
    service: Service


def _perform(workload: KafkaDraw, phase: timedelta, scenery: Scenery, *, dry_run: bool) -> bool:
    with ExitStack() as running:
        with steps(scenery.console) as tell:
            tell("fetching Kafka (once, about 60 MB), and building the job")
            jar = build_kafka_jar(scenery.runtime.java, scenery.runtime.home)
            broker = Broker(scenery.runtime.java, scenery.part("kafka"))
            tell("starting a broker")
            running.enter_context(broker)
            for topic in ("in", "out"):
                broker.create(topic, PARTITIONS)
            cluster = _cluster(scenery)
            tell("starting Headgate, which is told where cluster and broker are, and nothing else")
            service = running.enter_context(_service(scenery, cluster.url, broker, dry_run=dry_run))
            tell(f"starting a Flink cluster: {_TASK_MANAGERS} TaskManagers with {_SLOTS} slots each")
            running.enter_context(cluster)
            service.await_ready()
            tell("submitting the job")
            job_id = submit_job(cluster.url, jar, entry_class=ENTRY_CLASS, arguments=_arguments(broker))
        writer = running.enter_context(_writing(broker))
        scene = Scene(
            workload=workload, phase_length=phase, epoch=datetime.now(UTC) + _LEAD, at_s=-_LEAD.total_seconds()
        )
        watcher = KafkaWatcher(cluster.url, job_id, writer)
        stage = _Stage(broker=broker, writer=writer, watcher=watcher, service=service)
        scene = _watch(replace(scene, dry_run=dry_run), stage, scenery.console)
        # One that may not scale has fallen behind for minutes: nobody need wait for it.
        found = _counted(stage, timedelta() if dry_run else _COUNTED_WITHIN, scenery.console)
        scenery.console.print("  stopping everything", style="dim")
        service.close()
    verdicts = judge(workload, scene.timeline, phase)
    told = tuple(claims(scene.timeline, phase, written=writer.written, found=found))
    passed = all(verdict.passed for verdict in verdicts) and all(claim.holds for claim in told)
    scenery.console.print(verdict_table(verdicts), _told(told, passed=passed, dry_run=dry_run))
    return passed


def _cluster(scenery: Scenery) -> LocalCluster:
    return LocalCluster(
        task_managers=_TASK_MANAGERS, slots=_SLOTS, directory=scenery.part("flink"), runtime=scenery.runtime
    )


def _service(scenery: Scenery, url: str, broker: Broker, *, dry_run: bool) -> Service:
    directory = scenery.part("headgate")
    options: Mapping[str, object] = {
        **configuration(url, directory, dry_run=dry_run),
        "kafka-clusters": [{"name": "demo", "url": broker.address}],
        "headgate.reaction": "fast",
        # What was held up is worked off with what the load needs: there is one right answer for each phase.
        "job.autoscaler.catch-up.duration": "5 min",
    }
    return Service(options, directory, java=scenery.runtime.java)


def _arguments(broker: Broker) -> list[str]:
    return [f"brokers={broker.address}", f"costUs={COST_US}", "name=demo"]


@contextmanager
def _writing(broker: Broker) -> Iterator[Writer]:
    writer = Writer(broker.address, "in")
    writer.start()
    try:
        yield writer
    finally:
        writer.per_s = 0.0


def _watch(scene: Scene, stage: _Stage, console: Console) -> Scene:
    """Look and draw once a second until the last phase is over; return the last scene."""
    over = threading.Event()
    away = threading.Thread(target=_go_away, args=(stage.broker, over), daemon=True)
    away_from_s = AWAY * scene.phase_length.total_seconds() + AWAY_AFTER.total_seconds()
    with ExitStack() as ending, choose_view(console) as view:
        ending.callback(over.set)
        while scene.at_s < scene.length_s:
            if scene.at_s >= away_from_s and away.ident is None:
                away.start()
            stage.writer.per_s = scene.phase.rate_per_s if scene.at_s >= -1 else 0.0
            now = datetime.now(UTC)
            seen = stage.watcher.look(now, scene.epoch)
            scene = replace(
                scene,
                at_s=(now - scene.epoch).total_seconds(),
                timeline=(*scene.timeline, seen) if seen else scene.timeline,
                sayings=(*scene.sayings, *stage.service.sayings()),
            )
            view.show(scene)
            time.sleep(_LOOK_EVERY_S)
    return scene


def _go_away(broker: Broker, over: threading.Event) -> None:
    """Kill the broker, and have it back when it is time, or at once when the last phase is over."""
    broker.kill()
    over.wait(max(0.0, (AWAY_FOR - _STARTING).total_seconds()))
    with suppress(UnreachableError):  # the demo was stopped meanwhile; otherwise the count will tell
        broker.start()


def _counted(stage: _Stage, within: timedelta, console: Console) -> Counter[int]:
    """Count the records once the job has copied all of them, or has had time enough."""
    console.print("  counting the records", style="dim")
    written, until = stage.writer.stop(), time.monotonic() + within.total_seconds()
    while len(found := committed_records(stage.broker.address, "out")) < written and time.monotonic() < until:
        time.sleep(_LOOK_EVERY_S)
    return found


def _told(told: tuple[Claim, ...], *, passed: bool, dry_run: bool) -> Group:
    lines = [
        Text.assemble(
            ("  passed  ", "bold green") if claim.holds else ("  FAILED  ", "bold red"), f"{claim.text}: {claim.seen}"
        )
        for claim in told
    ]
    if passed:
        return Group(
            *lines, Text(), Text("PASSED: the job had what it needed, and no record was harmed.", "bold green")
        )
    why = " That is right for a dry run: Headgate was not allowed to change anything." if dry_run else ""
    return Group(*lines, Text(), Text(f"FAILED: not everything was as it should be.{why}", "bold red"))
