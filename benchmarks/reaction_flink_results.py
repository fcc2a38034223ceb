"""The raw runs of reactions on real Flink: kept after each of them, so that a series goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.reaction_flink_figures import Step

RESULTS = Path(__file__).with_name("results") / "reaction_flink.json"
STEADY = "steady"
"""Stands for the cluster of the loads that do not step."""


class Name(NamedTuple):
    """What a run is of."""

    cluster: str
    """Of `CLUSTERS`, or `STEADY`."""
    arm: str
    """Of `ARMS`; of a steady load, its aggregator and the percentage that it keeps the job busy."""
    repeat: int


@dataclass(frozen=True, slots=True)
class Results:
    """The runs in one file."""

    path: Path
    runs: dict[Name, Mapping[str, Any]]
    setting: Any
    """With which they were made, as a file tells it."""

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read the runs that are there; none if there is no file."""
        if not path.exists():
            return cls(path, {}, None)
        known = json.loads(path.read_text(encoding="utf-8"))
        runs = {Name(run["cluster"], run["arm"], run["repeat"]): run for run in known["runs"]}
        return cls(path, runs, known["setting"])

    @classmethod
    def opened(cls, path: Path, *, setting: Mapping[str, Any], forget: Callable[[Name], bool]) -> Results:
        """
        Read the runs that are to be added to, without those that are to be forgotten; the file stays as it is.

        Raises:
            SystemExit: they were made with another setting, so that nothing could be compared with them.
        """
        read = cls.read(path)
        kept = {name: run for name, run in read.runs.items() if not forget(name)}
        as_told = json.loads(json.dumps(setting))
        if kept and read.setting != as_told:
            message = f"{path} was measured with another setting: move it away, or forget it with --anew"
            raise SystemExit(message)
        return cls(path, kept, as_told)

    def complete(self, wanted: Iterable[Name], measure: Callable[[Name], Mapping[str, Any]]) -> None:
        """Measure what is wanted and not there yet, one run after the other, and keep each as soon as it is over."""
        missing = [name for name in wanted if name not in self.runs]
        if not missing:
            print("everything is measured")
        for number, name in enumerate(missing, 1):
            print(f"{datetime.now(UTC):%H:%M:%S} {number} of {len(missing)}: {' '.join(map(str, name))}", flush=True)
            self.add(name, measure(name))

    def add(self, name: Name, run: Mapping[str, Any]) -> None:
        """Keep a run, and write the file: a look a line."""
        self.runs[name] = {**name._asdict(), **run}
        runs = [self.runs[name] for name in sorted(self.runs)]
        known = {"setting": self.setting, "runs": runs}
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text(f"{_compact(known)}\n", encoding="utf-8")
        unfinished.replace(self.path)

    def steps(self, cluster: str, arm: str, step: str) -> list[Step]:
        """Give one of the steps of each repeat."""
        return [Step.of(run["steps"][step]) for name, run in sorted(self.runs.items()) if name[:2] == (cluster, arm)]


def _compact(value: Any, depth: int = 0) -> str:
    """Write objects, and lists of anything but numbers, a member a line."""
    if isinstance(value, dict) and depth <= _DEEPEST:
        members = [f"{json.dumps(key)}: {_compact(each, depth + 1)}" for key, each in value.items()]
        return _block("{}", members, depth)
    if isinstance(value, list) and any(isinstance(each, dict | list) for each in value) and depth <= _DEEPEST:
        return _block("[]", [_compact(each, depth + 1) for each in value], depth)
    return json.dumps(value, separators=(",", ":"))


_DEEPEST = 5
"""Runs, a run, its steps, a step, its looks: a look is on one line."""


def _block(brackets: str, members: list[str], depth: int) -> str:
    indent = "\n" + " " * (depth + 1)
    return f"{brackets[0]}{indent}{f',{indent}'.join(members)}\n{' ' * depth}{brackets[1]}"
