"""The files of Mill: what a job writes about itself, and what it reads as wishes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import VertexId
from headgate.model.topology import Edge, ShipStrategy, Topology, Vertex

STATUS, WISHES = ".status.json", ".wishes.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a job wrote last."""

    job_id: str
    state: str
    started_at: datetime
    written_at: datetime
    stages: tuple[Mapping[str, Any], ...]
    """In the order in which records flow."""

    @property
    def topology(self) -> Topology:
        """The stages as a graph; their names are their ids."""
        vertices = tuple(
            Vertex(
                id=VertexId(one["name"]), name=one["name"], parallelism=one["parallelism"], max_parallelism=one["most"]
            )
            for one in self.stages
        )
        edges = tuple(
            Edge(source=VertexId(source), target=VertexId(one["name"]), ship_strategy=_ship(one))
            for one in self.stages
            for source in one.get("inputs", ())
        )
        return Topology(vertices=vertices, edges=edges)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a job should do; its number grows with each change, so that the job sees that there is something new."""

    number: int = 0
    parallelism: Mapping[VertexId, int] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)


class MillFiles:
    """The directory of one Mill."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Look at nothing yet.

        Raises:
            ValueError: there is no parameter `directory`.
        """
        if "directory" not in parameters:
            message = "parameter directory is missing. Hint: the directory that the jobs of Mill write into"
            raise ValueError(message)
        self.directory = Path(parameters["directory"])

    def jobs(self) -> tuple[str, ...]:
        """
        Name the jobs that are there.

        Raises:
            UnreachableError: the directory cannot be read.
        """
        try:
            return tuple(
                sorted(path.name.removesuffix(STATUS) for path in self.directory.iterdir() if _is_status(path))
            )
        except OSError as error:
            message = f"directory {self.directory} cannot be read: {error.strerror}"
            raise UnreachableError(message) from error

    def status(self, job: str) -> Status:
        """
        Read what a job wrote last.

        Raises:
            NotFoundError: there is no such job.
            UnreachableError: its file cannot be read, or makes no sense.
        """
        content = self._read(f"{job}{STATUS}")
        if content is None:
            self.jobs()
            message = f"job {job} is not in {self.directory} (any more)"
            raise NotFoundError(message)
        try:
            return Status(
                job_id=content["job_id"],
                state=content["state"],
                started_at=_instant(content["started_at"]),
                written_at=_instant(content["written_at"]),
                stages=tuple(content["stages"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            message = f"what job {job} wrote makes no sense: {error!r}"
            raise UnreachableError(message) from error

    def wishes(self, job: str) -> Wishes:
        """Read what a job should do; nothing until somebody wished something."""
        return Wishes(**(self._read(f"{job}{WISHES}") or {}))

    def wish(self, job: str, wishes: Wishes) -> None:
        """Replace what a job should do, at once: it never sees half of it."""
        path = self.directory / f"{job}{WISHES}"
        content = {"number": wishes.number, "parallelism": dict(wishes.parallelism), "config": dict(wishes.config)}
        draft = path.with_suffix(".draft")
        try:
            draft.write_text(json.dumps(content))
            draft.replace(path)
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror}"
            raise UnreachableError(message) from error

    def _read(self, name: str) -> Any:
        try:
            return json.loads((self.directory / name).read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            message = f"{self.directory / name} cannot be read: {error}"
            raise UnreachableError(message) from error


def _ship(stage: Mapping[str, Any]) -> ShipStrategy:
    return ShipStrategy.HASH if stage.get("keyed") else ShipStrategy.REBALANCE


def _is_status(path: Path) -> bool:
    return path.name.endswith(STATUS)


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
