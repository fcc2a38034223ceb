"""What a local Spark cluster stands on: a lean home, settings in files, groups and applications that are ended."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.engines.flink.local.processes import Children
from headgate.engines.spark.local.application import Application
from headgate.engines.spark.local.archives import fast_start
from headgate.engines.spark.local.groups import end_groups, is_living
from headgate.engines.spark.local.home import find_spark_home, lean_home, remove_work
from headgate.engines.spark.local.settings import application, environment, write_properties
from headgate.errors import PermanentError


def _spark(directory: Path, *jars: str) -> Path:
    for part in ("bin", "jars", "python"):
        (directory / part).mkdir(parents=True)
    for jar in ("spark-core_2.13-4.3.0.jar", *jars):
        (directory / "jars" / jar).write_text(jar)
    return directory


def test_the_home_holds_no_python_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So workers import PySpark from where it is compiled; the same jars elsewhere share it, others have their own."""
    monkeypatch.setenv("HEADGATE_CACHE", str(tmp_path / "cache"))

    home = lean_home(_spark(tmp_path / "one"))

    assert sorted(path.name for path in home.iterdir()) == ["bin", "jars"]
    assert home.name.startswith("spark-4.3.0-")
    assert lean_home(_spark(tmp_path / "same")) == home
    assert lean_home(_spark(tmp_path / "other", "more.jar")) != home


@pytest.mark.parametrize("recorded", [True, False])
def test_what_was_recorded_is_read_at_each_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, recorded: bool
) -> None:
    """A Java that could not record anything starts all the same, and is not asked to record again."""
    monkeypatch.setenv("HEADGATE_CACHE", str(tmp_path / "cache"))
    home = tmp_path / "spark"
    submit = home / "bin" / "spark-submit"
    submit.parent.mkdir(parents=True)
    starts = tmp_path / "starts"
    submit.write_text(f"#!/bin/sh\necho started >> {starts}\n" + ("touch classes.jsa\n" if recorded else "exit 1\n"))
    submit.chmod(0o755)

    options, again = (fast_start(home, java_home=tmp_path, python=Path(sys.executable)) for _ in range(2))

    assert options == again
    assert ("-XX:SharedArchiveFile=" in options) is recorded
    assert starts.read_text() == "started\n"


def test_an_interpreter_without_pyspark_is_named(tmp_path: Path) -> None:
    """It would fail with less clear words later."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    python.chmod(0o755)
    with pytest.raises(PermanentError, match=f"{python} has no PySpark"):
        find_spark_home(python)


def test_what_a_local_cluster_leaves_is_removed(tmp_path: Path) -> None:
    """Whether there is any or not."""
    (tmp_path / "work" / "app-1").mkdir(parents=True)
    remove_work(tmp_path)
    remove_work(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_settings_reach_a_driver_as_a_file(tmp_path: Path) -> None:
    """Those of the application win over ours."""
    told = application("spark://127.0.0.1:7", tmp_path, java_options="-Xint") | {"spark.executor.cores": "2"}
    write_properties(tmp_path / "properties", told)
    lines = (tmp_path / "properties").read_text().splitlines()
    assert "spark.master spark://127.0.0.1:7" in lines
    assert "spark.executor.cores 2" in lines
    assert "spark.driver.bindAddress 127.0.0.1" in lines


def test_another_sparks_variables_do_not_get_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a shell or a test before has set for its own Spark."""
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master yarn")
    monkeypatch.setenv("SPARK_HOME", "/elsewhere")
    given = environment(
        spark_home=tmp_path / "home",
        java_home=tmp_path,
        python=Path(sys.executable),
        directory=tmp_path,
        java_options="-Xint",
    )
    assert "PYSPARK_SUBMIT_ARGS" not in given
    assert given["SPARK_HOME"] == str(tmp_path / "home")
    assert given["SPARK_LOCAL_IP"] == "127.0.0.1"


def test_who_stays_behind_its_leader_is_ended() -> None:
    """An executor that does not end by itself, long after its worker has."""
    leader = subprocess.Popen(["/bin/sh", "-c", "sleep 600 & exit 0"], start_new_session=True)
    leader.wait()
    os.killpg(leader.pid, 0)
    end_groups([leader.pid], timedelta())
    end_groups([leader.pid], timedelta(seconds=20))


def test_a_group_that_is_empty_is_left_alone() -> None:
    """Its number may be a stranger's by the time that somebody looks."""
    leader = subprocess.Popen(["/bin/true"], start_new_session=True)
    leader.wait()
    assert not is_living(leader.pid)
    end_groups([leader.pid], timedelta())


def test_an_application_is_awaited_stopped_and_killed(tmp_path: Path) -> None:
    """What it said is there afterwards."""
    children = Children()

    def run(program: str) -> Application:
        command = [sys.executable, "-uc", program]
        started = children.start("program", command, environment=dict(os.environ), output=tmp_path / "out")
        return Application(started, children)

    try:
        assert run("print('done')").wait(timedelta(seconds=30)) == 0
        sleeping = run("import signal; signal.pause()")
        with pytest.raises(PermanentError, match="program still runs after 0:00:00; its last lines:\ndone"):
            sleeping.wait(timedelta())
        sleeping.stop()
        assert sleeping.wait(timedelta(seconds=30)) != 0
        other = run("import signal; signal.pause()")
        other.kill()
        other.kill()
        assert not other.running
    finally:
        children.close()
