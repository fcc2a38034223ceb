"""The options in force while their file changes."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.config.reload import LiveOptions, Reload
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.options.service import Mode

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
SOON = NOON + timedelta(seconds=1)
LATER = NOON + timedelta(minutes=1)
FILE = """\
clusters:
  - name: local
    url: http://user:hidden@127.0.0.1:8081
mode: advise
job.autoscaler:
  utilization.target: 0.7
jobs:
  - match: local/orders
    autoscaler: {scaling.enabled: false}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give the path of a good file, written at noon."""
    path = tmp_path / "headgate.yaml"
    write(path, FILE)
    return path


def write(path: Path, text: str, at: datetime = NOON) -> None:
    """Write a file at an instant."""
    path.write_text(text)
    os.utime(path, (at.timestamp(), at.timestamp()))


@pytest.fixture
def live(file: Path) -> LiveOptions:
    """Give the options that were loaded from it."""
    return LiveOptions(file, {}, {})


def test_a_file_that_stays_as_it_is_is_no_news(live: LiveOptions, file: Path) -> None:
    """Also when it was written anew, with the same words."""
    before = live.options
    assert live.refresh(LATER) is None
    write(file, FILE, at=LATER)
    assert live.refresh(LATER + timedelta(hours=1)) is None
    assert live.options is before


def test_a_changed_file_holds_from_the_next_look_on(live: LiveOptions, file: Path) -> None:
    """Mode, cadence and every job's options; what was said is told once, with both values."""
    write(file, FILE.replace("advise", "act").replace("0.7", "0.8") + "decide.interval: 5 s\n")
    assert live.refresh(LATER) == Reload(
        changed=("mode advise -> act", "decide.interval 30 s -> 5 s", "job.autoscaler.utilization.target 0.7 -> 0.8")
    )
    assert (live.options.mode, live.options.decide_interval) == (Mode.ACT, timedelta(seconds=5))
    assert live.for_job(JobKey("local", "sales"), {}).options.utilization_target == 0.8
    assert live.refresh(LATER) is None


def test_options_of_some_jobs_change_too(live: LiveOptions, file: Path) -> None:
    """An entry names what it sets itself; entries that come or go are one change."""
    orders = JobKey("local", "orders")
    assert not live.for_job(orders, {}).options.scaling_enabled
    write(file, FILE.replace("{scaling.enabled: false}", "{scaling.enabled: true}").replace("0.7", "0.8"))
    reload = live.refresh(LATER)
    assert reload is not None
    assert reload.changed == (
        "job.autoscaler.utilization.target 0.7 -> 0.8",
        "jobs[0].autoscaler.scaling.enabled false -> true",
    )
    assert live.for_job(orders, {}).options.scaling_enabled
    write(file, FILE[: FILE.index("jobs:")])
    assert live.refresh(LATER) == Reload(changed=("job.autoscaler.utilization.target 0.8 -> 0.7", "jobs"))


def test_a_jobs_own_configuration_stays_the_stronger(live: LiveOptions, file: Path) -> None:
    """Whatever the file says by now."""
    write(file, FILE.replace("0.7", "0.8"))
    live.refresh(LATER)
    own = {"job.autoscaler.utilization.target": "0.5"}
    assert live.for_job(JobKey("local", "sales"), own).options.utilization_target == 0.5


def test_a_faulty_file_is_refused_with_all_its_faults(live: LiveOptions, file: Path) -> None:
    """They are told once; what held still holds, and holds until the file is right again."""
    before = live.options
    write(file, FILE.replace("advise", "atc").replace("0.7", "much") + "nonsense: 1\n")
    reload = live.refresh(LATER)
    assert reload is not None
    assert [fault.split(": ", 1)[0].rsplit(":", 1)[1] for fault in reload.faults] == ["4", "6", "10"]
    assert reload.changed == ()
    assert live.options is before
    assert live.refresh(LATER) is None
    write(file, FILE.replace("advise", "act"))
    assert live.refresh(LATER) == Reload(changed=("mode advise -> act",))


def test_a_secret_that_leads_nowhere_is_a_fault(live: LiveOptions, file: Path) -> None:
    """As at the start."""
    write(file, FILE + "state-store: ${env:NO_SUCH_STORE}\n")
    reload = live.refresh(LATER)
    assert reload is not None
    assert "NO_SUCH_STORE is not set" in reload.faults[0]
    with pytest.raises(ConfigError, match="NO_SUCH_STORE"):
        LiveOptions(file, {}, {})


def test_what_needs_a_restart_is_named_and_the_rest_holds(live: LiveOptions, file: Path) -> None:
    """It is named again with each change until it agrees with what the process was started with; no secret is shown."""
    cluster = "http://user:secret@127.0.0.1:9999"
    write(
        file,
        FILE.replace("http://user:hidden@127.0.0.1:8081", cluster).replace("advise", "act")
        + "state-store: memory\nlog: {path: elsewhere, retention: 1 d}\npipeline: in-process\n",
    )
    assert live.refresh(LATER) == Reload(
        changed=("mode advise -> act", "log.retention 7 d -> 1 d"),
        needs_restart=(
            "clusters[0].url http://***@127.0.0.1:8081 -> http://***@127.0.0.1:9999",
            "pipeline spark -> in-process",
            "state-store sqlite:///headgate.db -> memory",
            "log.path headgate-log -> elsewhere",
        ),
    )
    options = live.options
    assert (options.mode, options.log.retention, options.log.path) == (
        Mode.ACT,
        timedelta(days=1),
        "headgate-log",
    )
    assert options.clusters[0].url == "http://user:hidden@127.0.0.1:8081"
    write(file, FILE + "pipeline: in-process\n")
    assert live.refresh(LATER) == Reload(
        changed=("mode act -> advise", "log.retention 1 d -> 7 d"), needs_restart=("pipeline spark -> in-process",)
    )


def test_what_belongs_to_something_that_needs_a_restart_waits_with_it(live: LiveOptions, file: Path) -> None:
    """A signal cannot be had without its source: nothing of such a file holds, and it is said why."""
    before = live.options
    write(
        file,
        FILE.replace("advise", "act")
        + "signal-sources: [{name: prom, type: prometheus, url: 'http://127.0.0.1:9090'}]\n"
        + "signals: [{name: cpu, source: prom, query: up}]\n",
    )
    reload = live.refresh(LATER)
    assert reload is not None
    assert reload.needs_restart == ("signal-sources",)
    assert "'prom' of signal cpu is not declared" in reload.faults[0]
    assert live.options is before


def test_a_file_that_is_being_written_is_left_alone(live: LiveOptions, file: Path) -> None:
    """It counts once nobody has touched it for two seconds, and not before: half of it may look faulty."""
    write(file, FILE[:60], at=NOON + timedelta(seconds=10))
    assert live.refresh(NOON + timedelta(seconds=11)) is None
    write(file, FILE.replace("advise", "act"), at=NOON + timedelta(seconds=11))
    assert live.refresh(NOON + timedelta(seconds=12)) is None
    assert live.refresh(NOON + timedelta(seconds=13)) == Reload(changed=("mode advise -> act",))


def test_two_looks_that_agree_are_as_good_as_age(live: LiveOptions, file: Path) -> None:
    """Where the clock of the file's machine runs ahead, its age tells nothing."""
    write(file, FILE.replace("advise", "act"), at=LATER + timedelta(hours=1))
    assert live.refresh(NOON) is None
    assert live.refresh(NOON) == Reload(changed=("mode advise -> act",))


def test_who_demands_it_gets_it_at_once(live: LiveOptions, file: Path) -> None:
    """Once: the file is complete, somebody says. What was refused already is said again."""
    write(file, FILE.replace("advise", "act"), at=NOON)
    live.demand()
    assert live.refresh(SOON) == Reload(changed=("mode advise -> act",))
    assert live.refresh(SOON) is None
    write(file, "nonsense: 1\n", at=NOON)
    for _ in range(2):
        live.demand()
        reload = live.refresh(SOON)
        assert reload is not None
        assert reload.faults


def test_a_file_that_is_gone_for_a_moment_is_no_fault(live: LiveOptions, file: Path) -> None:
    """Editors and deployments put another one in its place; one that stays away is told of once."""
    file.rename(file.with_suffix(".old"))
    assert live.refresh(LATER) is None
    file.with_suffix(".old").rename(file)
    assert live.refresh(LATER) is None
    file.unlink()
    assert live.refresh(LATER) is None
    reload = live.refresh(LATER)
    assert reload is not None
    assert "cannot be read" in reload.faults[0]
    assert live.refresh(LATER) is None
    assert live.options.mode is Mode.ADVISE


def test_a_swap_of_links_is_seen(tmp_path: Path) -> None:
    """As Kubernetes changes a ConfigMap: the file is a link into a link that is replaced."""
    for name, text in (("first", FILE), ("second", FILE.replace("advise", "act"))):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "headgate.yaml", text)
    data, file = tmp_path / "..data", tmp_path / "headgate.yaml"
    data.symlink_to("first")
    file.symlink_to(Path("..data") / "headgate.yaml")
    live = LiveOptions(file, {}, {})
    (tmp_path / "new").symlink_to("second")
    (tmp_path / "new").rename(data)
    assert live.refresh(LATER) == Reload(changed=("mode advise -> act",))


def test_flags_and_environment_stay_the_stronger(file: Path) -> None:
    """What was said at the start is not undone by the file."""
    live = LiveOptions(file, {"HEADGATE_DECIDE__INTERVAL": "7 s"}, {"mode": "advise"})
    write(file, FILE.replace("advise", "act") + "decide.interval: 5 s\n")
    assert live.refresh(LATER) == Reload()
    assert (live.options.mode, live.options.decide_interval) == (Mode.ADVISE, timedelta(seconds=7))


def test_an_instance_of_a_plugin_is_there_as_soon_as_it_is_declared(live: LiveOptions, file: Path) -> None:
    """Jobs may name it without a restart."""
    declared = "headgate.plugins.mine.class: savepoint-redeploy\n"
    write(file, FILE + declared + "job.autoscaler.scaling.realizer.class: mine\n")
    reload = live.refresh(LATER)
    assert reload is not None
    assert (reload.needs_restart, reload.faults) == ((), ())
    assert live.options.autoscaler.realizer == "mine"
    assert live.options.plugin_instances == {"mine.class": "savepoint-redeploy"}
