"""Workers that a command of the operator's adds and removes."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from headgate.errors import RefusedError, UnreachableError
from headgate.ports import Workers
from headgate.providers.command import CommandProvider


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """Give a directory with one worker, a command that counts, and one that notes what it was asked for."""
    (tmp_path / "count").write_text("1\n")
    (tmp_path / "ask").write_text('echo "$*" >>"$(dirname "$0")/asked"\n')
    return tmp_path


def provider(scripts: Path, **other: str) -> CommandProvider:
    """Give one that uses them."""
    usual = {"count": f"cat {scripts}/count", "request": f"sh {scripts}/ask --replicas={{count}} '{{count}} workers'"}
    return CommandProvider({**usual, **other})


def asked(scripts: Path) -> list[str]:
    """Give what was asked for."""
    file = scripts / "asked"
    return file.read_text().splitlines() if file.exists() else []


async def test_the_number_stands_wherever_it_is_named(scripts: Path) -> None:
    """In every word, which stay the words that they are."""
    assert await provider(scripts).request(3) is True
    assert asked(scripts) == ["--replicas=3 3 workers"]


async def test_what_is_there_is_not_asked_for(scripts: Path) -> None:
    """After a restart of Headgate too, which remembers nothing."""
    assert await provider(scripts).request(1) is False
    assert not asked(scripts)


async def test_it_is_asked_again_until_they_are_there(scripts: Path) -> None:
    """That is no news; a command may have failed half-way, or a worker died."""
    commands = provider(scripts)
    assert await commands.request(2) is True
    assert await commands.request(2) is False
    assert len(asked(scripts)) == 2
    (scripts / "count").write_text("2")
    assert await commands.request(2) is False
    assert len(asked(scripts)) == 2


async def test_a_wish_that_is_under_way_can_be_taken_back(scripts: Path) -> None:
    """There is one worker, two more are coming, and one is enough again."""
    commands = provider(scripts)
    await commands.request(3)
    assert await commands.request(1) is True
    assert asked(scripts)[-1] == "--replicas=1 1 workers"


async def test_what_was_asked_for_last_is_wanted(scripts: Path) -> None:
    """Before, it is what is there."""
    commands = provider(scripts)
    assert await commands.workers() == Workers(wanted=1, ready=1)
    await commands.request(4)
    assert await commands.workers() == Workers(wanted=4, ready=1)


async def test_no_shell_reads_the_command(scripts: Path) -> None:
    """What a shell would do is a word like any other."""
    await provider(scripts, request=f"sh {scripts}/ask $HOME ; echo {{count}} | cat").request(2)
    assert asked(scripts) == ["$HOME ; echo 2 | cat"]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"count": "echo many"}, "echo printed 'many', which is no number"),
        ({"count": "echo -1"}, "echo printed '-1'"),
        ({"count": "echo"}, "echo printed ''"),
        ({"count": "sh -c 'echo no quota >&2; echo more >&2; exit 3'"}, "sh ended with 3: no quota$"),
        ({"count": "sh -c 'exit 4'"}, "sh ended with 4: it does not say why"),
        ({"count": "/gone/count"}, "/gone/count cannot be run: No such file"),
        ({"request": "sh -c 'exit {count}'"}, "sh ended with 2"),
    ],
)
async def test_a_command_that_fails_is_a_fault_that_passes(
    scripts: Path, other: Mapping[str, str], expected: str
) -> None:
    """With what it said first; it was not asked for anything then."""
    commands = provider(scripts, **other)
    with pytest.raises(UnreachableError, match=expected):
        await commands.request(2)


async def test_one_that_takes_too_long_is_killed_with_all_that_it_started(scripts: Path) -> None:
    """Nothing is left to run on behind Headgate's back."""
    pipe = scripts / "pipe"
    os.mkfifo(pipe)
    slow = f"sh -c '(sleep 30; echo survived) >{pipe} & sleep 60'"
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as child:
        with pytest.raises(UnreachableError, match=r"did not end within 0\.2 s"):
            await provider(scripts, count=slow, timeout="200 ms").workers()
        # The pipe ends when the last process that holds it does.
        os.set_blocking(child.fileno(), True)
        assert child.read() == b""


async def test_what_a_command_leaves_behind_is_not_waited_for(scripts: Path) -> None:
    """It may well start workers that keep its output open."""
    left = f"sh -c 'sleep 30 & echo $! >{scripts}/pid; echo 5'"
    assert (await provider(scripts, count=left, timeout="20 s").workers()).ready == 5
    os.kill(int((scripts / "pid").read_text()), signal.SIGKILL)


async def test_settings_are_refused(scripts: Path) -> None:
    """There is no command for them."""
    with pytest.raises(RefusedError, match="not heap"):
        await provider(scripts).reconfigure({"heap": "1g"})


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"count": ""}, "parameter count is missing"),
        ({"request": "grow"}, r"parameter request has no \{count\}"),
        ({"request": "grow 'by {count}"}, "No closing quotation"),
        ({"shell": "true"}, "unknown parameter shell"),
    ],
)
def test_a_wrong_parameter_is_named(scripts: Path, wrong: Mapping[str, str], expected: str) -> None:
    """When it is made."""
    with pytest.raises(ValueError, match=expected):
        provider(scripts, **wrong)
