"""Whether Headgate's intervals fit those of the cluster: who looks, waits and changes how often."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from headgate.doctor.facts import JobFacts
from headgate.doctor.findings import Finding, doubtful, fine, seconds, span
from headgate.options.service import ServiceOptions
from headgate.options.units import format_duration

FEWEST_SAMPLES = 6
"""A metrics window holds at least so many."""


def check_intervals(options: ServiceOptions) -> Iterator[Finding]:
    """Check Headgate's own intervals against each other."""
    collect, decide = options.collect_interval, options.decide_interval
    seen = f"samples every {format_duration(collect)}, decisions every {format_duration(decide)}"
    if decide < collect:
        why = "it decides again before there is anything new"
        yield doubtful("intervals", seen, why=why, remedy="set `decide.interval` to a multiple of `collect.interval`")
    else:
        yield fine("intervals", seen)


def check_pace(facts: JobFacts, options: ServiceOptions) -> Iterator[Finding]:
    """Check them against a job's and its cluster's."""
    if facts.now is None:
        return
    doubts = (*_refresh(facts, options), *_window(facts, options), *_cooldown(facts), *_checkpoint_wait(facts))
    yield from doubts or (_in_step(facts),)


def _in_step(facts: JobFacts) -> Finding:
    wants, settings = facts.job.options, facts.settings
    window, settling = format_duration(wants.metrics_window), format_duration(wants.stabilization_interval)
    cooldown, waiting = seconds(settings.rescale_cooldown_s), seconds(settings.resource_stabilization_s)
    return fine(
        "pace",
        f"window {window} after {settling} to settle; the cluster's own cooldown {cooldown}, wait for slots {waiting}",
    )


def _refresh(facts: JobFacts, options: ServiceOptions) -> Iterator[Finding]:
    collect, refresh = options.collect_interval, timedelta(seconds=facts.settings.metric_refresh_s)
    if collect < refresh:
        yield doubtful(
            "pace",
            f"samples every {format_duration(collect)}, but Flink fetches metrics every {span(refresh)}",
            why="values repeat in between, and a sample with nothing new is none",
            remedy="raise `collect.interval`, or lower the cluster's `metrics.fetcher.update-interval`",
        )


def _window(facts: JobFacts, options: ServiceOptions) -> Iterator[Finding]:
    window = facts.job.options.metrics_window
    step = max(options.collect_interval, timedelta(seconds=facts.settings.metric_refresh_s))
    if window < FEWEST_SAMPLES * step:
        yield doubtful(
            "pace",
            f"a window of {format_duration(window)} holds {window // step} samples",
            why="a rate over so few is more noise than load",
            remedy=f"raise `job.autoscaler.metrics.window` to {span(FEWEST_SAMPLES * step)} or more",
        )


def _cooldown(facts: JobFacts) -> Iterator[Finding]:
    wants, cooldown = facts.job.options, timedelta(seconds=facts.settings.rescale_cooldown_s)
    pause = wants.stabilization_interval + wants.metrics_window
    if cooldown > pause:
        yield doubtful(
            "pace",
            f"the cluster's cooldown of {span(cooldown)} is longer than stabilization and window, {span(pause)}",
            why="Headgate would ask for changes that the cluster puts off",
            remedy="lower `jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling`, or raise the two",
        )


def _checkpoint_wait(facts: JobFacts) -> Iterator[Finding]:
    interval_s, window = facts.settings.checkpoint_interval_s, facts.job.options.metrics_window
    if interval_s is not None and facts.settings.adaptive and timedelta(seconds=interval_s) > window:
        yield doubtful(
            "pace",
            f"a checkpoint every {seconds(interval_s)}, a window of {format_duration(window)}",
            why="a rescale waits for the next checkpoint, so it comes when the load may be another one",
            remedy="set a shorter `execution.checkpointing.interval`",
        )
