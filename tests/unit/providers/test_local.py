"""Workers that are processes of this machine, here ones that only sleep."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from headgate.errors import ConflictError, RefusedError, UnreachableError
from headgate.providers.folder import PREFIX, Worker, WorkerFolder
from headgate.providers.local import FOLDER, LocalProcessesProvider
from headgate.providers.staffing import staying

STUBBORN: Mapping[str, str] = {"stubborn": "true"}


def folder_of(parameters: Mapping[str, str]) -> WorkerFolder:
    """Give what is known of the workers."""
    return WorkerFolder(Path(parameters["directory"]) / FOLDER)


def living(parameters: Mapping[str, str]) -> tuple[Worker, ...]:
    """Give the workers that live."""
    folder = folder_of(parameters)
    with folder.locked():
        return folder.living()


def said(parameters: Mapping[str, str], name: str) -> str:
    """Give what a worker has printed: its command line, at some time."""
    return (Path(parameters["directory"]) / "log" / f"{name}.out").read_text()


async def line_of(parameters: Mapping[str, str], name: str) -> str:
    """Wait for the command line of a worker."""
    await until(lambda: said(parameters, name).endswith("\n"))
    return said(parameters, name)


async def until(reached: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(30):
        while not reached():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)


async def test_a_worker_is_a_task_manager_of_the_directory(parameters: Mapping[str, str]) -> None:
    """With the memory that Flink gave it, its name as its id, its logs beside the others'."""
    await LocalProcessesProvider(parameters).request(1)
    line = await line_of(parameters, f"{PREFIX}1")
    assert "org.apache.flink.runtime.taskexecutor.TaskManagerRunner" in line
    assert f"--configDir {parameters['directory']}/conf" in line
    assert f"-D taskmanager.resource-id={PREFIX}1" in line
    assert "-Xmx320m" in line
    assert "-D taskmanager.cpu.cores=1.0" in line
    assert f"log/{PREFIX}1.log" in line


@pytest.mark.parametrize(("options", "expected"), [("", False), ("-XX:+UseSerialGC -Da=b", True)])
async def test_a_jvm_works_as_it_is_told(parameters: Mapping[str, str], options: str, *, expected: bool) -> None:
    """A Flink of one's own is no laboratory: by default its JVMs choose for themselves."""
    await LocalProcessesProvider({**parameters, "java-options": options}).request(1)
    assert ("-XX:+UseSerialGC" in await line_of(parameters, f"{PREFIX}1")) is expected


async def test_the_job_of_an_application_is_on_the_class_path(parameters: Mapping[str, str]) -> None:
    """After Flink's own jars."""
    await LocalProcessesProvider({**parameters, "job-jar": "/jobs/orders.jar"}).request(1)
    assert "flink-dist-2.3.0.jar:/jobs/orders.jar" in await line_of(parameters, f"{PREFIX}1")


async def test_a_process_with_the_number_of_a_dead_worker_is_nobodys(parameters: Mapping[str, str]) -> None:
    """Numbers come round again: what was given that of a worker is neither counted nor ended."""
    provider = LocalProcessesProvider(parameters)
    await provider.request(1)
    (worker,) = living(parameters)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    await until(lambda: not living(parameters))
    stranger = await asyncio.create_subprocess_exec("sleep", "60")
    folder = folder_of(parameters)
    (folder.path / f"{worker.name}.pid").write_text(f"{stranger.pid}\n")
    (folder.path / f"{worker.name}.json").write_text("{}")
    assert (await provider.workers()).ready == 0
    await provider.request(0)
    assert stranger.returncode is None
    stranger.kill()
    await stranger.wait()


async def test_workers_are_children_of_nobody(parameters: Mapping[str, str]) -> None:
    """They are in a session of their own, and outlive the process that started them, however it ends."""
    program = """
import asyncio, json, os, signal, sys
from headgate.providers.local import LocalProcessesProvider
asyncio.run(LocalProcessesProvider(json.loads(sys.argv[1])).request(2))
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", program, json.dumps(dict(parameters)))
    assert await ended.wait() == -signal.SIGKILL
    found = await LocalProcessesProvider(parameters).workers()
    assert (found.wanted, found.ready) == (2, 2)
    assert all(os.getsid(worker.pid or 0) != os.getsid(0) for worker in living(parameters))


async def test_one_that_does_not_end_is_killed_by_a_later_call(parameters: Mapping[str, str]) -> None:
    """No call waits for it, and it counts no more from when it was asked."""
    provider = LocalProcessesProvider({**parameters, "patience": "1 ms"})
    await provider.reconfigure(STUBBORN)
    await provider.request(1)
    (worker,) = living(parameters)
    pid = worker.pid
    assert pid is not None
    await until(lambda: _ignores_the_end(pid))
    await provider.request(0)
    assert [one.number for one in living(parameters)] == [1]
    while living(parameters):
        assert (await provider.workers()).ready == 0


def _ignores_the_end(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text().strip() == "sleep"


async def test_settings_hold_for_later_workers(parameters: Mapping[str, str]) -> None:
    """Also for those of another process, and beside those that were set before."""
    provider = LocalProcessesProvider(parameters)
    await provider.request(1)
    assert await provider.reconfigure({"heap": "1g"}) is True
    assert await provider.reconfigure({"network": "2g"}) is True
    assert await provider.reconfigure({"heap": "1g"}) is False
    later = LocalProcessesProvider(parameters)
    await later.request(2)
    present = staying(living(parameters))
    assert [one.settings for one in present] == [{"heap": "1g", "network": "2g"}] * 2
    await until(lambda: "-D heap=1g -D network=2g" in said(parameters, present[-1].name))


async def test_settings_that_flink_does_not_want_end_no_worker(parameters: Mapping[str, str]) -> None:
    """They are refused in its words, and not kept."""
    provider = LocalProcessesProvider(parameters)
    await provider.request(1)
    before = living(parameters)
    with pytest.raises(RefusedError, match="nonsense is no size"):
        await provider.reconfigure({"heap": "nonsense"})
    assert await provider.request(1) is False
    assert living(parameters) == before


async def test_memory_is_divided_anew_only_where_something_changed(parameters: Mapping[str, str]) -> None:
    """It takes a second."""
    provider, sized = LocalProcessesProvider(parameters), Path(parameters["java"]) / "sized"
    for count in (1, 2, 3):
        await provider.request(count)
    assert len(sized.read_text().splitlines()) == 1
    (Path(parameters["directory"]) / "conf" / "config.yaml").write_text("rest.port: 22\n")
    await provider.request(4)
    assert len(sized.read_text().splitlines()) == 2


async def test_nothing_is_asked_of_flink_while_nothing_is_to_do(parameters: Mapping[str, str]) -> None:
    """Neither counting nor ending workers needs it."""
    provider = LocalProcessesProvider(parameters)
    await provider.workers()
    await provider.request(0)
    assert not (Path(parameters["java"]) / "sized").exists()


async def test_before_anything_is_asked_for_what_is_there_is_wanted(parameters: Mapping[str, str]) -> None:
    """None, in a new directory."""
    found = await LocalProcessesProvider(parameters).workers()
    assert (found.wanted, found.ready, found.names) == (0, 0, ())


async def test_a_java_that_does_not_run_is_refused(parameters: Mapping[str, str]) -> None:
    """Waiting does not make it run."""
    with pytest.raises(RefusedError, match="has no bin/java that runs"):
        await LocalProcessesProvider({**parameters, "java": "/gone"}).request(1)


def test_two_headgates_do_not_arrange_workers_at_once(parameters: Mapping[str, str]) -> None:
    """The later one says so, and tries again in its next cycle."""
    path = folder_of(parameters).path
    other = WorkerFolder(path, lock_limit=timedelta())
    with WorkerFolder(path).locked(), pytest.raises(ConflictError, match="somebody else"), other.locked():
        pass


async def test_a_directory_that_is_not_there_is_a_fault_that_passes(tmp_path: Path) -> None:
    """The cluster may come up later; nothing is made in its place."""
    with pytest.raises(UnreachableError, match="gone"):
        await LocalProcessesProvider({"directory": str(tmp_path / "gone")}).workers()
    assert not (tmp_path / "gone").exists()


async def test_a_file_that_makes_no_sense_is_named(parameters: Mapping[str, str]) -> None:
    """A power failure may leave one; nothing is started or ended by what it might have said."""
    provider = LocalProcessesProvider(parameters)
    await provider.request(1)
    before = living(parameters)
    plan = folder_of(parameters).path / "plan.json"
    plan.write_text("")
    with pytest.raises(UnreachableError, match=r"plan\.json makes no sense.*Hint: delete it"):
        await provider.request(2)
    assert living(parameters) == before
    plan.unlink()
    assert await provider.request(2) is True


async def test_a_worker_that_cannot_be_written_down_does_not_run(parameters: Mapping[str, str], tmp_path: Path) -> None:
    """On a full disk; it could never be ended."""
    folder, output = folder_of(parameters), tmp_path / "output"
    with folder.locked():
        pid_file = folder.path / f"{PREFIX}1.pid"
        pid_file.symlink_to("/dev/full")
        with pytest.raises(CalledProcessError):
            folder.start(Worker(number=1, pid=None), ["sleep", "60"], environment=os.environ, output=output)
        await until(lambda: _can_be_locked(pid_file))


def _can_be_locked(path: Path) -> bool:
    with path.open("w") as file, suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"directory": ""}, "parameter directory is missing"),
        ({"home": "/gone"}, "home is '/gone', where there is no lib/flink-dist"),
        ({"patience": "soon"}, "'soon' is not a duration"),
        ({"patience": "0"}, "patience is '0'"),
        ({"heap": "1g"}, "unknown parameter heap. Hint: there is directory, home"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: Mapping[str, str], wrong: Mapping[str, str], expected: str) -> None:
    """When it is made, before anything is started."""
    with pytest.raises(ValueError, match=expected):
        LocalProcessesProvider({**parameters, **wrong})
