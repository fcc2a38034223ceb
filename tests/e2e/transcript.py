"""
Plays a tutorial: its commands are run as they stand on the page, in order, and must answer as the page says.

What a page shows is compared word by word; numbers, charts and names of people stand for any, `…` for whatever it
leaves out. A command that only looks is repeated until it sees what the page shows; any other is run once.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self

from headgate.engines.flink.local.processes import Child, Children

ROOT = Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:8081"
"""That of the cluster, on pages."""
LIMIT = timedelta(seconds=90)
"""For each answer; a few seconds are usual."""

_FENCE = re.compile(r"^```(console|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROGRAMS = {"headgate": ("-m", "headgate"), "python": ()}
_STAYING = ("headgate run", "python examples/")
"""Commands that run until they are stopped."""
_LOOKING = ("doctor", "jobs", "history", "explain", "events")
_END_PATIENCE = timedelta(seconds=30)

_NUMBER, _CHART, _ARROW = r"\d[\d,.:-]*[kM]?", "[▁▂▃▄▅▆▇█]", "[↗→↘]"
_UNIT = r"(?: (?:ms|s|min|h|d)\b)?"
_ANYTHING: Mapping[str, str] = {
    r"^ *…\n": r"(?:.*\n)*?",
    "…": ".*",
    r"\w+day (?=\d)": r"\w+day ",
    r"alice@laptop": r"\S+@\S+",
    f"{_CHART}(?:{_CHART}| )*": f"{_CHART}(?:{_CHART}| )*",
    f" ?{_ARROW}": f" ?{_ARROW}?",
    _NUMBER + _UNIT: _NUMBER + _UNIT,
    r" *\n\s*": r" *\n\s*",
    " +": " +",
}
"""What stands on a page, and what it stands for."""
_TOKEN = re.compile("|".join(f"({what})" for what in _ANYTHING), re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of a page, and the answer that the page shows."""

    text: str
    answer: str

    def play(self, terminal: Terminal) -> None:
        """Run it, and compare."""
        if self.text.startswith(_STAYING):
            terminal.start(self)
        elif self.text.startswith("headgate "):
            terminal.run(self)

    @property
    def only_looks(self) -> bool:
        """Whether it may be run again."""
        return self.text.split()[1] in _LOOKING

    @property
    def expected(self) -> re.Pattern[str]:
        """What is accepted for the answer that the page shows."""
        return re.compile("".join(_patterns(f"{self.answer.strip()}\n")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Lines of `headgate.yaml` that the reader is asked to change."""

    lines: tuple[str, ...]

    def play(self, terminal: Terminal) -> None:
        """Write each line over the one with its key, be it a comment."""
        text = terminal.config.read_text()
        for line in self.lines:
            key = re.escape(line.split(":")[0].strip())
            found = [re.search(rf"^{start}{key}:(?= |$).*", text, re.MULTILINE) for start in (" *", " *# ")]
            old = next((each for each in found if each), None)
            assert old, f"{terminal.config} has no line {line!r}:\n{text}"
            text = text[: old.start()] + line + text[old.end() :]
        terminal.config.write_text(text)


class Terminal:
    """Where a reader works through tutorials, in the current directory; what was started ends with it."""

    def __init__(self) -> None:
        """Begin with nothing started."""
        self.config = Path("headgate.yaml")
        self._address = ADDRESS
        self._running = ExitStack()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *failure: object) -> None:
        """End what was started, the last first."""
        self._running.close()

    def start(self, command: Command) -> None:
        """Start what runs until it is stopped, and wait until it has said what the page shows."""
        children = Children()
        self._running.callback(children.close, patience=_END_PATIENCE)
        output = Path(f"{shlex.split(command.text)[1].replace('/', '-')}.out")
        child = children.start(command.text, self._words(command), environment=os.environ, output=output)
        said = _until(command, lambda: _said_by(child))
        if started := re.search(r"http://\S+:\d+", said):
            self._address = started[0]

    def run(self, command: Command) -> None:
        """Run a command to its end, and see what the page shows."""
        if command.only_looks:
            _until(command, lambda: self._answer(command))
        else:
            answer = self._answer(command)
            assert command.expected.fullmatch(answer), _difference(command, answer)

    def _answer(self, command: Command) -> str:
        done = subprocess.run(
            self._words(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert done.returncode == 0, f"{command.text} ended with {done.returncode}:\n{done.stdout}"
        return f"{done.stdout.strip()}\n"

    def _words(self, command: Command) -> list[str]:
        program, *words = shlex.split(command.text.replace(ADDRESS, self._address), comments=True)
        return [sys.executable, *_PROGRAMS[program], *(str(ROOT / word) if "/" in word else word for word in words)]


def steps(page: Path) -> Iterator[Command | Edit]:
    """Give what a page asks its reader to do, in order."""
    for kind, block in _FENCE.findall(page.read_text()):
        if kind == "yaml":
            yield Edit(lines=tuple(block.splitlines()))
            continue
        for told in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            text, _, answer = told.partition("\n")
            yield Command(text=text, answer=answer)
