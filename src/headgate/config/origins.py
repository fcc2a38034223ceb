"""Values as they are written somewhere, each with its place; nothing is known of their types yet."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a value is set."""

    source: str
    """The file's path, `environment` or `command line`."""
    line: int | None = None
    """Counted from 1; None where the source has no lines or does not tell."""
    key: str = ""
    """The key as it is written there, with the sections around it; empty for the whole source."""

    def __str__(self) -> str:
        """Give source and line, as editors read it."""
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One value as text, whatever the source took it for; None resets an option to its default."""

    text: str | None
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list: of values, or of sections."""

    items: tuple[Leaf | Section, ...]
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Settings by dotted key, relative to the section; sections inside it are dissolved into the keys."""

    settings: Mapping[str, Leaf | Items]
    origin: Origin
    is_complete: bool = True
    """False when more was written than could be read, so that what is missing may well be there."""

    def origin_of(self, key: str) -> Origin:
        """Give the place of a setting, or of the whole section where the key is not set in it."""
        setting = self.settings.get(key)
        return replace(self.origin, key=key) if setting is None else setting.origin


@dataclass(slots=True)
class Findings:
    """Collects what is wrong, so that all of it is reported together; the same thing found twice is told once."""

    _faults: dict[str, Origin] = field(default_factory=dict)
    _warnings: dict[str, Origin] = field(default_factory=dict)

    @property
    def faults(self) -> tuple[str, ...]:
        """What makes the configuration unusable: by line, then what has none."""
        return _by_line(self._faults)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be changed some day: by line, then what has none."""
        return _by_line(self._warnings)

    def fault(self, origin: Origin, what: str) -> None:
        """Note a fault of the value at `origin`."""
        self._faults[_at(origin, what)] = origin

    def warn(self, origin: Origin, what: str) -> None:
        """Note a warning about the value at `origin`."""
        self._warnings[_at(origin, what)] = origin


def _at(origin: Origin, what: str) -> str:
    return ": ".join(part for part in (str(origin), origin.key, what) if part)


def _by_line(found: Mapping[str, Origin]) -> tuple[str, ...]:
    return tuple(sorted(found, key=lambda text: found[text].line or sys.maxsize))
