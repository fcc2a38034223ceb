"""The registry: which plugins are installed, by kind and name. Nothing of a plugin is imported to know that."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, distributions

from headgate.plugins.kinds import Kind

OURS = "headgate"
"""The distribution whose plugins are Headgate's own."""
_NAMELESS = "a distribution without a name"

Reader = Callable[[], Iterable[EntryPoint]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """One plugin as its distribution registered it."""

    kind: Kind
    name: str
    target: str
    """What makes it, as `module:attribute`."""
    distribution: str

    @property
    def is_ours(self) -> bool:
        """Whether it is built in."""
        return self.distribution == OURS


_Claims = Mapping[tuple[Kind, str], tuple[Registered, ...]]


class UnknownPluginError(LookupError):
    """No plugin of that name, or more than one; the text says which there are."""


def installed() -> Iterator[EntryPoint]:
    """Give the entry points of every distribution on the path, of whatever group."""
    return (point for distribution in distributions() for point in distribution.entry_points)


class Registry:
    """
    The plugins of all installed distributions, read when first asked, and again when Python's path has changed.

    A name that two distributions claim is nobody's: whoever uses it is told of both.
    """

    def __init__(self, read: Reader = installed) -> None:
        """Take the entry points from `read`; only those in groups of `Kind` count."""
        self._read = read
        self._known: tuple[Sequence[str], _Claims] = (), {}

    def find(self, kind: Kind, name: str) -> Registered:
        """
        Give a plugin by its name.

        Raises:
            UnknownPluginError: there is none, or two distributions claim the name.
        """
        claims = self._claims.get((kind, name), ())
        if len(claims) == 1:
            return claims[0]
        if claims:
            message = f"{_both(claims)} both register the {kind.noun} {name!r}. Hint: uninstall one of them"
            raise UnknownPluginError(message)
        known = ", ".join(self.names(kind)) or "none"
        message = f"no {kind.noun} {name!r} is registered. Hint: there is {known}"
        raise UnknownPluginError(message)

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Give the names registered for a kind, sorted."""
        return tuple(sorted(name for of_kind, name in self._claims if of_kind is kind))

    @property
    def _claims(self) -> _Claims:
        path, claims = self._known
        if path != sys.path:
            claims = _claims(self._read())
            self._known = list(sys.path), claims
        return claims


def _claims(points: Iterable[EntryPoint]) -> _Claims:
    groups = {str(kind) for kind in Kind}
    claims: dict[tuple[Kind, str], dict[str, Registered]] = {}
    for point in points:
        if point.group in groups:
            found = _registered(point)
            # A distribution that is found twice on the path, as an editable one may be, is still one.
            claims.setdefault((found.kind, found.name), {}).setdefault(found.distribution, found)
    return {key: tuple(by_distribution.values()) for key, by_distribution in claims.items()}


def _registered(point: EntryPoint) -> Registered:
    distribution = _name_of(point.dist) if point.dist else _NAMELESS
    return Registered(kind=Kind(point.group), name=point.name, target=point.value, distribution=distribution)


@lru_cache(maxsize=256)
def _name_of(distribution: Distribution) -> str:
    """Return the name, for which all that the distribution says of itself is read: once for all of its plugins."""
    return distribution.name


def _both(claims: Iterable[Registered]) -> str:
    return " and ".join(sorted(claim.distribution for claim in claims))
