"""What a check says: what was seen, why it matters, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from headgate.options.service import Mode
from headgate.options.units import format_duration


class Verdict(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    """Headgate works, but not as well as it could, or not once it is to act."""
    FAILURE = "failure"
    """What the options ask for cannot be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was checked."""

    check: str
    """In two or three words."""
    verdict: Verdict
    seen: str
    """With numbers where there are any."""
    why: str = ""
    """Why it matters; empty where all is well."""
    remedy: str = ""
    """What to do about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that was found about one thing."""

    about: str
    """This machine, a file, a cluster's name or a job's key."""
    findings: tuple[Finding, ...]


def fine(check: str, seen: str) -> Finding:
    """Find nothing wrong."""
    return Finding(check=check, verdict=Verdict.OK, seen=seen)


def doubtful(check: str, seen: str, *, why: str, remedy: str) -> Finding:
    """Find something that works worse than it could."""
    return Finding(check=check, verdict=Verdict.WARNING, seen=seen, why=why, remedy=remedy)


def broken(check: str, seen: str, *, why: str, remedy: str) -> Finding:
    """Find something that cannot work."""
    return Finding(check=check, verdict=Verdict.FAILURE, seen=seen, why=why, remedy=remedy)


def hindering(check: str, seen: str, *, mode: Mode, why: str, remedy: str) -> Finding:
    """Find something that is in the way of acting: a failure where Headgate is to act, a warning where it advises."""
    find = broken if mode is Mode.ACT else doubtful
    return find(check, seen, why=why, remedy=remedy)


def fails(reports: Iterable[Report]) -> bool:
    """Tell whether anything is broken."""
    return any(found.verdict is Verdict.FAILURE for report in reports for found in report.findings)


def seconds(value: float) -> str:
    """Write seconds for people: whole ones, but a few of them to the millisecond."""
    return format_duration(
        timedelta(milliseconds=round(value * 1000)) if value < _FEW else timedelta(seconds=round(value))
    )


def span(duration: timedelta) -> str:
    """Write a duration for people."""
    return seconds(duration.total_seconds())


_FEW = 2
