"""The watchdog's bookkeeping, and that it works when its parent is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.engines.flink.local.watchdog import guarded

PARENT = """
import os, signal, sys
from pathlib import Path
from headgate.engines.flink.local.processes import Children
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
command = ["sh", "-c", "sleep 10; echo survived"]
children = Children()
children.start("sleeper", command, environment=os.environ, output=Path(sys.argv[1]))
print("started", flush=True)
signal.pause()
"""


def test_a_forgotten_group_is_not_guarded() -> None:
    """A group that ended by itself is taken out, as its number may come to belong to somebody else."""
    assert guarded(["+1\n", "+2\n", "-1\n"]) == {2}


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_children_die_with_their_parent(tmp_path: Path, signal_number: signal.Signals) -> None:
    """However the parent ends, and although it never closes its children, none of them stays."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        subprocess.Popen(
            [sys.executable, "-c", PARENT, str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as parent,
        pipe.open("rb") as child,
    ):
        assert parent.stdout is not None
        parent.stdout.readline()
        os.kill(parent.pid, signal_number)
        # The pipe ends when the last process that holds it does.
        assert child.read() == b""
