"""How the JVMs are started."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headgate.engines.flink.local.commands import command, job_manager, task_manager
from headgate.engines.flink.local.java import Java
from headgate.engines.flink.local.runtime import Application, ClassArchives, FlinkRuntime

ARCHIVE = "TaskManagerRunner.jsa"


def runtime(archives: ClassArchives | None = None) -> FlinkRuntime:
    """Return a Flink and a Java that are names only."""
    java = Java(home=Path("/java"), executable=Path("/java/bin/java"), major=17, origin="test")
    return FlinkRuntime(java=java, home=Path("/flink"), archives=archives)


def archive_options(archives: ClassArchives | None) -> list[str]:
    """Return what a TaskManager is told about its archive."""
    words = command(task_manager("tm"), runtime(archives), Path("/lab"))
    return [word for word in words if word.endswith(".jsa")]


def test_every_process_has_a_log_of_its_own() -> None:
    """Two TaskManagers of one directory differ in their log and their name, and share the configuration."""
    first, second = (command(task_manager(name), runtime(), Path("/lab")) for name in ("tm-0", "tm-1"))
    assert set(first) - set(second) == {"-Dlog.file=/lab/log/tm-0.log", "taskmanager.resource-id=tm-0"}
    assert "/lab/conf" in first


def test_job_and_task_managers_are_different_programs() -> None:
    """The main class comes after the options and before the arguments."""
    words = command(job_manager("jm"), runtime(), Path("/lab"))
    main_class = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
    assert words[words.index(main_class) + 1] == "--configDir"


def test_an_applications_jar_is_known_to_every_process() -> None:
    """The JobManager builds the job itself, the TaskManagers run its code; nothing is uploaded."""
    application = Application(jar=Path("/jobs/orders.jar"), entry_class="shop.Orders", arguments=("rate=5",))
    of_application = replace(runtime(), application=application)
    words = command(job_manager("jm", application), of_application, Path("/lab"))
    assert words[-3:] == ["--job-classname", "shop.Orders", "rate=5"]
    assert "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint" in words
    for jvm in (job_manager("jm", application), task_manager("tm")):
        words = command(jvm, of_application, Path("/lab"))
        assert words[words.index("-cp") + 1].endswith(":/jobs/orders.jar")
    assert not any("orders" in word for word in command(task_manager("tm"), runtime(), Path("/lab")))


@pytest.mark.parametrize("recorded", [True, False])
def test_an_archive_is_read_where_it_was_recorded(tmp_path: Path, *, recorded: bool) -> None:
    """A Java that could record none is not told to read one."""
    if recorded:
        (tmp_path / ARCHIVE).touch()
    expected = [f"-XX:SharedArchiveFile={tmp_path / ARCHIVE}"] if recorded else []
    assert archive_options(ClassArchives(directory=tmp_path)) == expected


def test_a_recording_process_writes_its_archive(tmp_path: Path) -> None:
    """Each main class has its own; without archives nothing is said of them."""
    recording = ClassArchives(directory=tmp_path, recording=True)
    assert archive_options(recording) == [f"-XX:ArchiveClassesAtExit={tmp_path / ARCHIVE}"]
    assert archive_options(None) == []
