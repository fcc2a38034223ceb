"""A replay from the options of a service to its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headgate.algorithm.rules import reach
from headgate.config.other import OtherOptions
from headgate.errors import ConfigError, NotFoundError
from headgate.options.service import Pipeline, ServiceOptions
from headgate.replay.comparing import Verdict
from headgate.replay.in_memory import replay_in_memory
from headgate.replay.redeciding import Alternative
from headgate.replay.redeploys import Redeploys
from headgate.replay.stretch import Stretch
from headgate.replay.tallies import Tally
from headgate.samplelog.circumstances import read_options, read_settings
from headgate.samplelog.files import root_of
from headgate.samplelog.reader import LogReader

Progress = Callable[[int, int], None]
"""Told how much of the work is done, and of how much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a replay has shown."""

    stretch: Stretch
    tallies: tuple[Tally, ...]
    recorded_since: datetime
    """The hour from which on the log holds what decisions depended on."""

    @property
    def jobs(self) -> int:
        """How many jobs were decided for."""
        return len({tally.first.job for tally in self.tallies})

    @property
    def decisions(self) -> int:
        """How many decisions there were."""
        return sum(tally.count for tally in self.tallies)

    def count(self, verdict: Verdict) -> int:
        """Count the decisions with a verdict."""
        return sum(tally.count for tally in self.tallies if tally.first.verdict is verdict)

    @property
    def why_not(self) -> Mapping[str, int]:
        """How many decisions could not be compared, by why; the most frequent first."""
        found: Counter[str] = Counter()
        for tally in self.tallies:
            if tally.first.verdict is Verdict.NOT_COMPARABLE:
                found[tally.first.why] += tally.count
        return dict(found.most_common())

    def first(self, verdict: Verdict) -> tuple[Tally, ...]:
        """Give of each job the first decision with a verdict, by time."""
        found = [tally for tally in self.tallies if tally.first.verdict is verdict]
        return tuple(sorted(found, key=lambda tally: (tally.first.at, tally.first.job)))


def replay(
    options: ServiceOptions, stretch: Stretch, other: OtherOptions, progress: Progress = lambda _done, _all: None
) -> Report:
    """
    Decide again what was decided in a stretch of a service's log.

    On Spark, or in this process where `pipeline` is `in-process`: then the whole stretch has to fit into memory.

    Raises:
        NotFoundError: the log does not hold what is needed; the text says from when on it does.
        UnreachableError: the log cannot be read, or Spark failed.
    """
    reader = LogReader(root_of(options.log))
    recorded_since = _recorded_since(options, reader, stretch)
    stretch = replace(stretch, longest_window=_longest_window(reader, stretch, other))
    alternative = Alternative(other=other, redeploys=Redeploys.of(options))
    if options.pipeline is Pipeline.IN_PROCESS:
        tallies = replay_in_memory(reader, stretch, alternative, progress)
    else:
        tallies = _on_spark(options, reader, stretch, alternative, progress)
    if not tallies:
        message = f"the samples log at {options.log.told} holds no decision of {stretch.told}"
        raise NotFoundError(message)
    return Report(stretch=stretch, tallies=tallies, recorded_since=recorded_since)


def _on_spark(
    options: ServiceOptions, reader: LogReader, stretch: Stretch, alternative: Alternative, progress: Progress
) -> tuple[Tally, ...]:
    # PySpark is imported only where it is used: without it a command starts in a fraction of the time.
    from headgate.engines.flink.local.java import find_java  # noqa: PLC0415
    from headgate.pipeline.packages import session_settings  # noqa: PLC0415
    from headgate.pipeline.session import open_session  # noqa: PLC0415
    from headgate.replay.distributed import replay_on_spark  # noqa: PLC0415
    from headgate.replay.watching import watched  # noqa: PLC0415

    session = open_session(options.spark_master, java_home=find_java().home, settings=session_settings(options))
    try:
        with watched(session, progress):
            return replay_on_spark(session, reader, stretch, alternative)
    finally:
        session.stop()


def _recorded_since(options: ServiceOptions, reader: LogReader, stretch: Stretch) -> datetime:
    where = f"the samples log at {options.log.told}"
    if reader.begin("samples") is None:
        message = f"{where} holds no samples. Hint: a service with `pipeline: in-process` keeps none"
        raise NotFoundError(message)
    begin = reader.begin("circumstances")
    if begin is None:
        message = (
            f"{where} does not hold what its decisions depended on. "
            "Hint: services keep that since this version: a replay is possible from the first cycle on that one decides"
        )
        raise NotFoundError(message)
    if begin > stretch.until:
        message = f"{where} holds what decisions depended on only since {begin:%Y-%m-%d %H:%M} UTC"
        raise NotFoundError(message)
    return begin


def _longest_window(reader: LogReader, stretch: Stretch, other: OtherOptions) -> timedelta:
    """Give how far back any decision looks: by the options that held, with the others over them."""
    since, until = stretch.since["circumstances"], stretch.until
    longest = stretch.longest_window
    for text in reader.texts("circumstances", "options", since, until):
        with suppress(ConfigError, ValueError):  # told of where the job is decided for
            held = read_options(text)
            longest = max(longest, reach(held))
            longest = max(longest, reach(other.over(held)))
    for text in reader.texts("circumstances", "settings", since, until):
        with suppress(ValueError):
            settings = read_settings(text)
            # Of micro-batches a window holds two, however long they take.
            longest = max(longest, 2 * timedelta(seconds=settings.metric_refresh_s if settings else 0))
    return longest
