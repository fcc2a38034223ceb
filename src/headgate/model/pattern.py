"""How names are matched wherever options hold a pattern."""

from __future__ import annotations

from fnmatch import fnmatchcase


def fits(name: str, pattern: str) -> bool:
    """Tell whether a name fits: `*` and `?` are wildcards, a bracket stands for itself, as job names hold them."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))
