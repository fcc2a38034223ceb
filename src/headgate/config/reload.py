"""
The options in force, while the file that they come from may change.

A new content counts once it has come to rest, so that nobody's half-written file is taken for a faulty one. What can
only change with a restart stays as it is, and is named; the rest holds from then on. A faulty content changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headgate.config.describing import unresolvable
from headgate.config.differences import differences, is_live, merged
from headgate.config.jobs import JobSettings, for_job
from headgate.config.loading import Loaded, load
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.options.service import ServiceOptions

SETTLED_AFTER = timedelta(seconds=2)
"""A file that nobody has written for so long is complete; a younger one is, once two looks in a row show the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reload:
    """
    What became of a changed file.

    There are faults, and nothing has changed; or there are none, and all of it holds that does not need a restart.
    """

    changed: tuple[str, ...] = ()
    """What holds from now on: each option with both values, secrets masked."""
    needs_restart: tuple[str, ...] = ()
    """Likewise what the file says otherwise than the process was started with, and what it cannot change alone."""
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What was in the file at one instant; None where it could not be read."""

    content: bytes | None
    written_at: datetime | None = None


class LiveOptions:
    """
    Holds the options in force, and looks after the file whenever `refresh` is called.

    One at a time may call that; everything else may be asked from any thread.
    """

    def __init__(self, path: Path, environ: Mapping[str, str], flags: Mapping[str, str]) -> None:
        """
        Load the options for the start.

        Args:
            path: the file, or a symbolic link to it.
            environ: as `load` takes it. It is copied: a process's own does not change, and is stronger than the file.
            flags: likewise.

        Raises:
            ConfigError: every fault, references to secrets that lead nowhere included.
        """
        self._path, self._environ, self._flags = path, dict(environ), dict(flags)
        self._known = self._before = _look_at(path).content
        self._loaded = self._load()
        self._demanded = False

    @property
    def options(self) -> ServiceOptions:
        """The options in force: another object after each change, and the same one until then."""
        return self._loaded.options

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be changed some day in the file that was taken over last."""
        return self._loaded.warnings

    def for_job(self, key: JobKey, own: Mapping[str, str]) -> JobSettings:
        """Give the options in force for one job, by its name and its own configuration."""
        return for_job(self.options, key, own)

    def demand(self) -> None:
        """Let the next `refresh` read the file as it is: somebody says that it is complete."""
        self._demanded = True

    def refresh(self, now: datetime) -> Reload | None:
        """
        Take over what the file says by now; blocks for as long as reading it does.

        Returns:
            What became of it; None if there is nothing new in it, or it is not at rest yet.
        """
        look, demanded = _look_at(self._path), self._demanded
        before, self._before, self._demanded = self._before, look.content, False
        if not demanded and (look.content == self._known or not _is_at_rest(look, before, now)):
            return None
        faults: tuple[str, ...] = ()
        try:
            loaded = self._load()
        except ConfigError as error:
            faults = error.faults
        if _look_at(self._path).content != look.content:
            return None  # somebody is writing it after all
        self._known = look.content
        return Reload(faults=faults) if faults else self._take_over(loaded)

    def _load(self) -> Loaded:
        loaded = load(self._path, self._environ, self._flags)
        if faults := unresolvable(loaded):
            raise ConfigError(faults)
        return loaded

    def _take_over(self, new: Loaded) -> Reload:
        old = self._loaded
        set_somewhere = old.origins.keys() | new.origins.keys()
        found = [each for each in differences(old.options, new.options) if each.is_own(set_somewhere)]
        restart = tuple(str(each) for each in found if not is_live(each.path))
        try:
            options = merged(old.options, new.options)
        except ValueError as error:
            # What may change refers to what may not: a signal to a new source, for example.
            return Reload(faults=tuple(str(error).splitlines()), needs_restart=restart)
        self._loaded = Loaded(options=options, origins=new.origins, warnings=new.warnings)
        changed = tuple(str(each) for each in found if is_live(each.path))
        return Reload(changed=changed, needs_restart=restart, warnings=new.warnings)


def _look_at(path: Path) -> _Look:
    """Read the file, links followed."""
    try:
        content = path.read_bytes()
        return _Look(content=content, written_at=datetime.fromtimestamp(path.stat().st_mtime, UTC))
    except OSError:
        return _Look(content=None)


def _is_at_rest(look: _Look, before: bytes | None, now: datetime) -> bool:
    if look.content == before:
        return True
    return look.written_at is not None and now - look.written_at >= SETTLED_AFTER
