"""What a demo needs to be there before it begins, and takes away afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from headgate.demo import interruption
from headgate.demo.loadjob import build_jar
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.progress import Progress
from headgate.engines.flink.local.runtime import FlinkRuntime

_PREFIX = "headgate-demo-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenery:
    """Java, Flink, the load job, a directory, and where to show what happens."""

    runtime: FlinkRuntime
    jar: Path
    directory: Path
    """Empty at first; deleted at the end unless somebody wants to keep it."""
    console: Console

    def part(self, name: str) -> Path:
        """Return a directory in the directory, which is made where it is missing."""
        path = self.directory / name
        path.mkdir(exist_ok=True)
        return path


def perform(play: Callable[[Scenery], bool], *, keep_logs: Path | None, console: Console | None) -> int:
    """
    Set the scene, play, clear up; for the main thread: Ctrl-C and SIGTERM are handled meanwhile.

    Args:
        play: tells whether it went well; what it starts it ends itself, also when it is interrupted.
        keep_logs: directory that keeps everything that is written; None deletes it.
        console: standard output by default.

    Returns:
        0 if it went well, 1 if not, 130 or 143 if a signal ended it.

    Raises:
        HeadgateError: something could not be fetched or started.
    """
    return stage(lambda directory, shown: play(_prepare(directory, shown)), keep_logs=keep_logs, console=console)


def stage(play: Callable[[Path, Console], bool], *, keep_logs: Path | None, console: Console | None) -> int:
    """Do the same for a play that needs neither Flink nor the load job: it is given an empty directory."""
    shown = console or Console()
    try:
        with interruption.raised(), _directory(keep_logs) as directory:
            if keep_logs is not None:
                shown.print(f"  logs are kept in {directory}", style="dim", highlight=False)
            return 0 if play(directory, shown) else 1
    except interruption.Interruption as interrupted:
        shown.print("stopped; everything that was started has ended")
        return interrupted.exit_code


@contextmanager
def steps(console: Console) -> Iterator[Progress]:
    """Show that something goes on, and keep a line of each step."""
    with console.status("") as status:

        def show(line: str) -> None:
            console.print(f"  {line}", style="dim", highlight=False, soft_wrap=True)
            status.update(line)

        yield show


@contextmanager
def _directory(keep_logs: Path | None) -> Iterator[Path]:
    """Give an empty directory, kept inside `keep_logs`, or deleted."""
    with ExitStack() as temporary:
        if keep_logs is None:
            made = temporary.enter_context(tempfile.TemporaryDirectory(prefix=_PREFIX))
        else:
            keep_logs.mkdir(parents=True, exist_ok=True)
            made = tempfile.mkdtemp(prefix=_PREFIX, dir=keep_logs)
        yield Path(made).absolute()


def _prepare(directory: Path, console: Console) -> Scenery:
    """Find or fetch what is needed, which may take minutes the first time; the demo's own time begins after it."""
    with steps(console) as tell:
        tell("looking for Java and Flink (fetched once, about 330 MB)")
        runtime = find_runtime(progress=tell)
        jar = build_jar(runtime.java, runtime.home, progress=tell)
    return Scenery(runtime=runtime, jar=jar, directory=directory, console=console)
