"""A replay on Spark comes to the end of the one in process: the same windows, decided again on the workers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate.config.other import OtherOptions
from headgate.engines.simulated.cluster import START
from headgate.options.autoscaler import Reaction
from headgate.replay.comparing import Verdict
from headgate.replay.distributed import replay_on_spark
from headgate.replay.in_memory import replay_in_memory
from headgate.replay.redeciding import Alternative
from headgate.replay.redeploys import Redeploys
from headgate.replay.stretch import Stretch
from headgate.replay.tallies import Tally
from headgate.samplelog.compaction import compact
from headgate.samplelog.reader import LogReader
from headgate.simulate import Scenario
from headgate.testing.recorded import RecordedService
from headgate.testing.simulated import growing_fleet

pytestmark = pytest.mark.spark

MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RecordedService:
    """Give three jobs that grow at different times, seen by two processes; the first hour's files are put together."""
    return recorded(growing_fleet(), tmp_path_factory.mktemp("recorded") / "log", 2 * MINUTE, 4 * MINUTE)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> RecordedService:
    """Give the same jobs, each of which goes by the last change of its load; the middle lies between their growths."""
    fleet = growing_fleet()
    scenario = replace(fleet, autoscaler=replace(fleet.autoscaler, reaction=Reaction.FAST))
    return recorded(scenario, tmp_path_factory.mktemp("quick") / "log", 1.5 * MINUTE, 2.5 * MINUTE)


def recorded(scenario: Scenario, log: Path, middle: timedelta, end: timedelta) -> RecordedService:
    """Give a run of two processes; what the first one wrote is put together in between."""
    service = RecordedService(scenario=scenario, root=log)
    service.advance_to(middle)
    compact(service.root, service.now + timedelta(days=1), closed_for=timedelta())
    service.restart()
    service.advance_to(end)
    return service


def on_spark(spark: SparkSession, run: RecordedService, pattern: str = "*", **other: str) -> tuple[Tally, ...]:
    """Replay a run on Spark, its verdicts in order."""
    stretch, alternative = asked(run, pattern, other)
    return ordered(replay_on_spark(spark, LogReader(run.root), stretch, alternative))


def in_process(run: RecordedService, pattern: str = "*", **other: str) -> tuple[Tally, ...]:
    """Replay a run in this process, its verdicts in order."""
    stretch, alternative = asked(run, pattern, other)
    return ordered(replay_in_memory(LogReader(run.root), stretch, alternative, lambda _done, _all: None))


def asked(run: RecordedService, pattern: str, other: dict[str, str]) -> tuple[Stretch, Alternative]:
    """Ask for a whole run, with other options if any, underscores for dots."""
    stretch = Stretch(begin=run.decisions[0].at, until=run.now, longest_window=15 * MINUTE, pattern=pattern)
    settings = {name.replace("_", "."): text for name, text in other.items()}
    return stretch, Alternative(other=OtherOptions.read(settings), redeploys=Redeploys())


def ordered(tallies: tuple[Tally, ...]) -> tuple[Tally, ...]:
    """Put verdicts into the order of jobs and time."""
    return tuple(sorted(tallies, key=lambda tally: (tally.first.job, tally.first.at)))


def test_a_recorded_run_is_decided_again_byte_for_byte(spark: SparkSession, run: RecordedService) -> None:
    """Three jobs, two processes, one of the two halves compacted: every decision is equal."""
    tallies = on_spark(spark, run)

    assert {tally.first.verdict for tally in tallies} == {Verdict.EQUAL}
    assert sum(tally.count for tally in tallies) == len(run.decisions)


def test_jobs_that_react_fast_are_decided_again_byte_for_byte(spark: SparkSession, quick: RecordedService) -> None:
    """Also between the ticks, where each job was decided for by itself."""
    assert any((decision.at - START) % quick.scenario.collect_interval for decision in quick.decisions)

    tallies = on_spark(spark, quick)

    assert {tally.first.verdict for tally in tallies} == {Verdict.EQUAL}
    assert sum(tally.count for tally in tallies) == len(quick.decisions)


def test_the_other_reaction_differs_as_in_process(spark: SparkSession, quick: RecordedService) -> None:
    """Word for word: by its window a job is decided for in another way."""
    tallies = on_spark(spark, quick, headgate_reaction="windowed")

    assert Verdict.DIFFERENT in {tally.first.verdict for tally in tallies}
    assert tallies == in_process(quick, headgate_reaction="windowed")


def test_other_options_differ_as_in_process(spark: SparkSession, run: RecordedService) -> None:
    """The same first differences, word for word, and the same counts."""
    tallies = on_spark(spark, run, utilization_target="0.4")

    assert Verdict.DIFFERENT in {tally.first.verdict for tally in tallies}
    assert tallies == in_process(run, utilization_target="0.4")


def test_only_the_jobs_asked_for_are_replayed(spark: SparkSession, run: RecordedService) -> None:
    """By name or by key, as in process."""
    assert {tally.first.job for tally in on_spark(spark, run, "*-1")} == {"simulated/job-1"}
    assert on_spark(spark, run, "simulated/*-2") == in_process(run, "simulated/*-2")
