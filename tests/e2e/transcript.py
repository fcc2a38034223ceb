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
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self

from headgate.engines.flink.local.processes import Children

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
_POLL_S = 0.5

_CHART = "[▁▂▃▄▅▆▇█]"
_AMOUNT = r"\d[\d,.:-]*[kM]?(?: (?:ms|s|min|h|d)\b)?"
_ALIKE: Mapping[str, str] = {
    r"^ *…\n": r"(?:.*\n)*?",
    "…": ".*",
    r"(?: *\n)+": r"(?: *\n)+",
    f"{_CHART}(?:{_CHART}| )*": f"{_CHART}(?:{_CHART}| )*",
    " ?[↗→↘]": " ?[↗→↘]?",
    " +": " +",
    "alice@laptop": r"\S+@\S+",
    r"\b[0-9a-f]{12}\b": r"\b[0-9a-f]{12}\b",
    r"\w+day (?=\d)": r"\w+day ",
    _AMOUNT: _AMOUNT,
}
"""What may stand on a page, and what stands for it in an answer."""
_TOKEN = re.compile("|".join(f"({what})" for what in _ALIKE), re.MULTILINE)


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

    def fits(self, answer: str) -> bool:
        """Whether the page shows this answer."""
        return re.fullmatch(_pattern(self.answer), answer) is not None

    def difference(self, answer: str) -> str:
        """Say where an answer leaves the page."""
        shown = self.answer.splitlines(keepends=True)
        fitting = [n for n in range(len(shown)) if re.match(_pattern("".join(shown[:n])), answer)]
        first = shown[fitting[-1]].strip()
        return f"`{self.text}` does not say what the page shows, from {first!r} on:\n{answer}"


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
        output = Path(f"{len(list(Path().glob('*.out')))}.out")
        children.start(command.text, self._words(command), environment=os.environ, output=output)
        said = _await(command, output.read_text)
        if address := re.search(r"http://[\d.]+:\d+", said):
            self._address = address[0]

    def run(self, command: Command) -> None:
        """Run a command to its end, and see what the page shows."""
        if command.only_looks:
            _await(command, lambda: self._answer(command))
        else:
            answer = self._answer(command)
            assert command.fits(answer), command.difference(answer)

    def _answer(self, command: Command) -> str:
        done = subprocess.run(
            self._words(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert done.returncode == 0, f"`{command.text}` ended with {done.returncode}:\n{done.stdout}"
        return done.stdout.strip("\n") + "\n"

    def _words(self, command: Command) -> list[str]:
        program, *words = shlex.split(command.text.replace(ADDRESS, self._address), comments=True)
        places = [str(ROOT / word) if word.startswith("examples/") else word for word in words]
        return [sys.executable, *_PROGRAMS[program], *places]


def steps(page: Path) -> Iterator[Command | Edit]:
    """Give what a page asks its reader to do, in order."""
    for kind, block in _FENCE.findall(page.read_text()):
        if kind == "yaml":
            yield Edit(lines=tuple(block.splitlines()))
            continue
        for told in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            text, _, answer = told.partition("\n")
            yield Command(text=text, answer=answer.strip("\n") + "\n")


def _await(command: Command, answer: Callable[[], str]) -> str:
    """Look until the page's answer is seen, and give it."""
    deadline = time.monotonic() + LIMIT.total_seconds()
    while not command.fits(seen := answer()):
        assert time.monotonic() < deadline, command.difference(seen)
        time.sleep(_POLL_S)
    return seen


def _pattern(shown: str) -> str:
    """Give the expression for all answers that a page's text stands for."""
    pattern, end = "", 0
    for token in _TOKEN.finditer(shown):
        pattern += re.escape(shown[end : token.start()]) + tuple(_ALIKE.values())[(token.lastindex or 1) - 1]
        end = token.end()
    return pattern + re.escape(shown[end:])
