"""Which options were set: also those that were set to what they are by default, wherever that was."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.agent.settings import read_settings
from headgate.config import for_job, load
from headgate.config.ordered import Overlay
from headgate.config.other import OtherOptions
from headgate.config.reload import LiveOptions, Reload
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.micro_batch import DEFAULTS
from headgate.options.service import ServiceOptions

KEY = JobKey("local", "orders")
INTERVAL, FULL = "scale-down.interval", "job.autoscaler.scale-down.interval"
HOUR = "60 min"
"""The default, in other words."""
CLUSTERS = "clusters: [{name: local, url: 'http://127.0.0.1:8081'}]\n"
NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)


def service(text: str = "", **environ: str) -> ServiceOptions:
    """Load a file, and the environment over it."""
    file = Path("headgate.yaml")
    file.write_text(CLUSTERS + text)
    return load(file, environ, {}).options


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def of_the_file() -> AutoscalerOptions:
    """Set it for all jobs."""
    return for_job(service(f"{FULL}: {HOUR}\n"), KEY).options


def of_an_entry() -> AutoscalerOptions:
    """Set it for some of them."""
    return for_job(service(f"jobs: [{{match: local/*, autoscaler: {{{INTERVAL}: {HOUR}}}}}]\n"), KEY).options


def of_the_file_below_an_entry() -> AutoscalerOptions:
    """Set it for all jobs, and something else for some."""
    entry = "jobs: [{match: local/*, autoscaler: {restart.time: 1 s}}]\n"
    return for_job(service(f"{FULL}: {HOUR}\n{entry}"), KEY).options


def of_the_environment() -> AutoscalerOptions:
    """Set it by a variable."""
    return for_job(service(HEADGATE_JOB__AUTOSCALER__SCALE_DOWN__INTERVAL=HOUR), KEY).options


def of_an_old_name() -> AutoscalerOptions:
    """Set it under the name of before."""
    return for_job(service(f"job.autoscaler.scale-up.grace-period: {HOUR}\n"), KEY).options


def of_the_job() -> AutoscalerOptions:
    """Set it in the job's own configuration."""
    return for_job(service(), KEY, {FULL: HOUR}).options


def of_the_service_under_the_job() -> AutoscalerOptions:
    """Set it for all jobs, and something else in the job's own configuration."""
    return for_job(service(f"{FULL}: {HOUR}\n"), KEY, {"job.autoscaler.restart.time": "1 s"}).options


def of_an_order() -> AutoscalerOptions:
    """Set it by `headgate set`."""
    return Overlay().laid(KEY, AutoscalerOptions(), {FULL: HOUR}).options


def of_an_agent() -> AutoscalerOptions:
    """Set it in the session, or in what is given to `attach`."""
    return read_settings({f"spark.headgate.{FULL}": HOUR}, {}).options.autoscaler


def of_other_options() -> AutoscalerOptions:
    """Try it instead of what holds."""
    return OtherOptions.read({INTERVAL: HOUR}).over(AutoscalerOptions())


@pytest.mark.parametrize(
    "set_by",
    [
        of_the_file,
        of_an_entry,
        of_the_file_below_an_entry,
        of_the_environment,
        of_an_old_name,
        of_the_job,
        of_the_service_under_the_job,
        of_an_order,
        of_an_agent,
        of_other_options,
    ],
)
def test_what_is_set_to_the_default_is_set(set_by: Callable[[], AutoscalerOptions]) -> None:
    """Wherever that is; the value alone would not tell."""
    options = set_by()
    assert options.scale_down_interval == AutoscalerOptions().scale_down_interval == timedelta(hours=1)
    assert options.is_set(INTERVAL)
    assert not options.is_set("vertex.max-parallelism")


def test_what_nobody_set_is_not() -> None:
    """Nor what an entry puts back to its default."""
    assert not for_job(service(), KEY).options.is_set(INTERVAL)
    text = f"{FULL}: 5 min\njobs: [{{match: local/*, autoscaler: {{{INTERVAL}: null}}}}]\n"
    assert not for_job(service(text), KEY).options.is_set(INTERVAL)


def test_another_value_than_the_default_is_set_by_whoever_made_it() -> None:
    """Code that makes options need not name each of them."""
    assert AutoscalerOptions(scale_down_interval=timedelta(minutes=5)).is_set(INTERVAL)
    assert not AutoscalerOptions().is_set(INTERVAL)
    assert AutoscalerOptions(keys_set=(INTERVAL,)).is_set(INTERVAL)


def test_defaults_of_a_kind_of_jobs_leave_alone_what_is_set() -> None:
    """To the usual default, or beside another value of the same group; the rest of them holds."""
    written = "job.autoscaler.metrics.window: 15 min\njob.autoscaler.rollback.observation: 3 min\n"
    options = for_job(service(written), KEY, beneath=DEFAULTS).options
    assert options.metrics_window == timedelta(minutes=15)
    assert options.rollback.observation == timedelta(minutes=3)
    assert (options.rollback.restarts, options.restart_time) == (1, timedelta(seconds=1))


def test_a_reload_tells_what_was_set_to_its_default() -> None:
    """The value is the same, but not what follows from it."""
    file = Path("headgate.yaml")
    texts = [CLUSTERS, f"{CLUSTERS}job.autoscaler: {{vertex.max-parallelism: 200}}\n", CLUSTERS]

    def write(text: str) -> None:
        file.write_text(text)
        os.utime(file, (NOON.timestamp(), NOON.timestamp()))

    write(texts[0])
    live = LiveOptions(file, {}, {})
    told = []
    for text in texts[1:]:
        write(text)
        told.append(live.refresh(NOON + timedelta(minutes=1)))
    key = "job.autoscaler.vertex.max-parallelism"
    assert told == [Reload(changed=(f"{key} unset -> 200",)), Reload(changed=(f"{key} 200 -> unset",))]
