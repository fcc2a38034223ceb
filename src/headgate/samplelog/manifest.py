"""
The manifest of a compacted hour: which file holds it, and which tick files went into that one.

It is the only thing that switches: a reader sees an hour before its compaction or after it, never half of each.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from headgate.errors import PermanentError
from headgate.samplelog import files
from headgate.samplelog.layout import Hour, tick_of

_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The state of one hour; the default is an hour that was never compacted."""

    generation: int = 0
    """Number of the compaction that holds; 0 before the first."""
    absorbed: frozenset[str] = frozenset()
    """Names of the tick files whose rows are in it. One written again later is not read: its rows are there."""
    switched_ms: int = 0
    """When it took effect, epoch milliseconds of the compactor."""

    @classmethod
    def load(cls, hour: Hour) -> Manifest:
        """
        Read the manifest of an hour.

        Raises:
            PermanentError: a newer Headgate wrote it.
        """
        text = files.read_text(hour.manifest)
        if text is None:
            return cls()
        fields = json.loads(text)
        version = fields.pop("version")
        if version > _VERSION:
            message = f"{hour.manifest} has version {version}, this Headgate reads up to {_VERSION}. Hint: update it"
            raise PermanentError(message)
        return cls(**fields | {"absorbed": frozenset(fields["absorbed"])})

    def save(self, hour: Hour) -> None:
        """Make it the manifest of an hour, at once and durably."""
        fields = asdict(self) | {"version": _VERSION, "absorbed": sorted(self.absorbed)}
        files.write_text(hour.manifest, json.dumps(fields))


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The files that together are an hour, seen at one instant."""

    manifest: Manifest
    compacted: tuple[Path, ...]
    """The generation that holds; none before the first compaction."""
    ticks: tuple[Path, ...]
    """Tick files that are in no generation yet, in order of time."""

    @classmethod
    def take(cls, hour: Hour) -> Snapshot:
        """
        List an hour consistently.

        A manifest that was switched while we listed may have condemned what we saw, so the listing counts only when
        the manifest was the same before and after it.
        """
        before = Manifest.load(hour)
        while True:
            listed = files.names(hour.folder)
            after = Manifest.load(hour)
            if after == before:
                return cls._of(hour, before, listed)
            before = after

    @classmethod
    def _of(cls, hour: Hour, manifest: Manifest, listed: list[str]) -> Snapshot:
        ticks = (name for name in listed if tick_of(name) is not None and name not in manifest.absorbed)
        return cls(
            manifest=manifest,
            compacted=(hour.generation(manifest.generation),) if manifest.generation else (),
            ticks=tuple(hour.folder / name for name in ticks),
        )
