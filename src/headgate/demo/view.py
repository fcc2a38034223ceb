"""Shows the demo as it runs: a picture that is drawn again each second, or one plain line every few seconds."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live

from headgate.demo.picture import draw_scene
from headgate.demo.scene import Scene, clock

PLAIN_EVERY_S = 5.0


class View(Protocol):
    """Takes a scene each second, inside a `with`."""

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End; leave the terminal as it was."""
        ...

    def show(self, scene: Scene) -> None:
        """Show a scene instead of the last one."""
        ...


def choose_view(console: Console) -> View:
    """Return the live view for a terminal, the plain one for everything else, such as a CI log."""
    return LiveView(console) if console.is_terminal else PlainView(console)


class LiveView:
    """Draws the picture in place; the last one stays."""

    def __init__(self, console: Console) -> None:
        """Draw nothing yet."""
        self._console = console
        self._live = Live(console=console, auto_refresh=False)

    def __enter__(self) -> Self:
        """Take the terminal."""
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it back."""
        self._live.stop()

    def show(self, scene: Scene) -> None:
        """Draw a scene over the last one."""
        picture = draw_scene(scene, width=self._console.width, height=self._console.height)
        self._live.update(picture, refresh=True)


class PlainView:
    """Prints a line every five seconds, and what Headgate said in between."""

    def __init__(self, console: Console) -> None:
        """Print nothing yet."""
        self._console = console
        self._next_s = -float("inf")
        self._said = 0

    def __enter__(self) -> Self:
        """Do nothing: there is nothing to take."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing."""

    def show(self, scene: Scene) -> None:
        """Print what is new, and the state if it is due."""
        for saying in scene.sayings[self._said :]:
            self._print(
                f"{clock((saying.at - scene.epoch).total_seconds()):>6}  Headgate: {saying.what}: {saying.message}"
            )
        self._said = len(scene.sayings)
        if scene.at_s >= self._next_s:
            self._next_s = scene.at_s + PLAIN_EVERY_S
            self._print(plain_line(scene))

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def plain_line(scene: Scene) -> str:
    """Return the state as one line: load, lag, and for each vertex the running and the needed parallelism."""
    seen = scene.now
    if seen is None:
        return f"{clock(scene.at_s):>6}  waiting for the job"
    workers = ", ".join(f"{name} {seen.parallelism.get(name, 0)}/{needed}" for name, needed in scene.wanted.items())
    rates = f"{seen.wanted_per_s:.0f}/s in, {seen.processed_per_s:.0f}/s taken"
    return (
        f"{clock(scene.at_s):>6}  {scene.phase.title}: {rates}, "
        f"{seen.lag_records:.0f} waiting; workers running/needed: {workers}"
    )
