"""
The manifests of a compacted hour: which file holds it, and which tick files went into that one.

The newest is the only thing that switches: a reader sees an hour before its compaction or after it, never half of each.
Each is created beside the one before and never replaced, so of two processes that compact an hour at once, one does.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from headgate.errors import PermanentError
from headgate.samplelog import files
from headgate.samplelog.files import Address
from headgate.samplelog.layout import Hour, epoch_ms, tick_of

_VERSION = 1
_NAME = re.compile(r"manifest-(\d{6})\.json")
_NUMBERED = re.compile(r"(?:manifest|generation)-(\d{6})(?:-[0-9a-f]{8})?\.(?:json|parquet)")
_OLDER = "manifest.json"
"""What the only manifest of an hour was called by the first versions of Headgate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The state of one hour; the default is an hour that was never compacted."""

    generation: int = 0
    """Number of the compaction that holds; 0 before the first."""
    compacted: str = ""
    """Name of the file that it left; none where the hour has expired."""
    absorbed: frozenset[str] = frozenset()
    """Names of the tick files whose rows are in it. One written again later is not read: its rows are there."""
    switched_ms: int = 0
    """When it took effect, epoch milliseconds of the compactor."""

    @property
    def name(self) -> str:
        """Of its file."""
        return f"manifest-{self.generation:06}.json"

    @classmethod
    def of(cls, hour: Hour, name: str | None) -> Manifest:
        """
        Read one of an hour's manifests; None stands for that of an hour without any.

        Raises:
            FileNotFoundError: a later one has replaced it.
            PermanentError: a newer Headgate wrote it.
        """
        if name is None:
            return cls()
        fields = json.loads(files.read_text(hour.folder / name))
        version = fields.pop("version")
        if version > _VERSION:
            where = hour.folder / name
            message = f"{where} has version {version}, this Headgate reads up to {_VERSION}. Hint: update it"
            raise PermanentError(message)
        fields.setdefault("compacted", f"generation-{fields['generation']:06}.parquet")
        return cls(**fields | {"absorbed": frozenset(fields["absorbed"])})

    def save(self, hour: Hour) -> bool:
        """Make it the manifest of an hour, at once and durably; tells whether no other process was faster."""
        fields = asdict(self) | {"version": _VERSION, "absorbed": sorted(self.absorbed)}
        return files.create_text(hour.folder / self.name, json.dumps(fields))


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The files that together are an hour, seen at one instant."""

    hour: Hour
    manifest: Manifest
    listed: tuple[str, ...]
    """The names of all files, in order."""

    @classmethod
    def take(cls, hour: Hour) -> Snapshot:
        """
        List an hour consistently.

        A manifest that came while we listed may have condemned what we saw, so the listing counts only when the one
        after it names the same manifest.

        Raises:
            FileNotFoundError: it has been replaced since.
            PermanentError: a newer Headgate wrote it.
        """
        listed = files.names(hour.folder)
        while True:
            later = files.names(hour.folder)
            if _newest(later) == _newest(listed):
                return cls(hour=hour, manifest=Manifest.of(hour, _newest(listed)), listed=tuple(listed))
            listed = later

    @property
    def compacted(self) -> tuple[Address, ...]:
        """The generation that holds; none before the first compaction."""
        return (self.hour.folder / self.manifest.compacted,) if self.manifest.compacted else ()

    @property
    def ticks(self) -> tuple[Address, ...]:
        """Tick files that are in no generation yet, in order of time."""
        absorbed = self.manifest.absorbed
        return tuple(
            self.hour.folder / name for name in self.listed if tick_of(name) is not None and name not in absorbed
        )

    @property
    def replaced(self) -> tuple[Address, ...]:
        """What the manifest in force stands for, or has come after."""
        in_force = {_newest(self.listed), self.manifest.compacted}
        return tuple(self.hour.folder / name for name in self.listed if name not in in_force and self._is_over(name))

    def _is_over(self, name: str) -> bool:
        numbered = _NUMBERED.fullmatch(name)
        older = name == _OLDER or (numbered is not None and int(numbered[1]) <= self.manifest.generation)
        return older or name in self.manifest.absorbed

    def next_generation(self) -> str:
        """Name the file of the next compaction, unlike that of any other process that is at the same."""
        return f"generation-{self.manifest.generation + 1:06}-{secrets.token_hex(4)}.parquet"

    def replaced_by(self, compacted: str, now: datetime) -> bool:
        """Let a file stand for all of the hour from now on, or none; tells whether no other process was faster."""
        return Manifest(
            generation=self.manifest.generation + 1,
            compacted=compacted,
            absorbed=self.manifest.absorbed.union(path.name for path in self.ticks),
            switched_ms=epoch_ms(now),
        ).save(self.hour)


def is_settled(listed: Sequence[str]) -> bool:
    """Tell from an hour's names alone, without reading a manifest, that its compaction and all cleaning are done."""
    kinds = sorted(name.partition("-")[0].partition(".")[0] for name in listed)
    return kinds == ["generation", "manifest"]


def _newest(listed: Collection[str]) -> str | None:
    numbered = [name for name in listed if _NAME.fullmatch(name)]
    return max(numbered, default=_OLDER if _OLDER in listed else None)
