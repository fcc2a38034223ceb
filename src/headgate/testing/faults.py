"""Faults to plant into a fake server: what goes wrong, on which paths, how often."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase


class FaultKind(StrEnum):
    """What happens instead of an answer."""

    STATUS = "status"
    """Another status, with a text of choice."""
    HANG = "hang"
    """No answer until the server stops."""
    RESET = "reset"
    """The connection breaks."""
    GARBLE = "garble"
    """An answer that is no JSON."""


@dataclass(slots=True, kw_only=True)
class Fault:
    """
    One fault.

    Attributes:
        path: pattern of the paths it hits, without query; `*` and `?` as in file names.
        method: `GET`, `PUT` or `*`.
        text: the body's error text, for STATUS.
        times: how often it strikes before it is over; None never ends.
    """

    path: str = "*"
    kind: FaultKind = FaultKind.STATUS
    method: str = "*"
    status: int = 500
    text: str = "Internal server error."
    times: int | None = None

    def strikes(self, method: str, path: str) -> bool:
        """Tell whether it hits this request, and count it."""
        if self.times == 0 or not (fnmatchcase(method, self.method) and fnmatchcase(path, self.path)):
            return False
        if self.times is not None:
            self.times -= 1
        return True
