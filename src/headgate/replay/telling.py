"""The report of a replay: in lines for people, and as JSON for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.algorithm.wording import moment
from headgate.replay.comparing import Verdict
from headgate.replay.past import UNRECORDED
from headgate.replay.replaying import Report
from headgate.replay.tallies import Tally

_TOLD = (Verdict.DIFFERENT, Verdict.RENUMBERED)


def lines(report: Report, *, most: int) -> Iterator[str]:
    """
    Give the summary, and of each job with a difference the first one.

    Args:
        report: of the replay.
        most: how many jobs are told of in full.
    """
    yield f"{report.decisions:,} decisions of {report.jobs:,} jobs decided again, {report.stretch.told}"
    for verdict in Verdict:
        yield f"  {verdict}: {report.count(verdict):,}"
    for why, count in report.why_not.items():
        yield f"    {count:,}: {why}"
    if UNRECORDED in report.why_not:
        yield f"  what decisions depended on is in the log since the hour of {moment(report.recorded_since)}"
    if any(report.first(verdict) for verdict in _TOLD):
        yield "what was decided is marked -, what would have been instead +"
    for verdict in _TOLD:
        yield from _firsts(report, verdict, most)


def _firsts(report: Report, verdict: Verdict, most: int) -> Iterator[str]:
    firsts = report.first(verdict)
    for tally in firsts[:most]:
        yield ""
        yield from _first(tally)
    if len(firsts) > most:
        yield f"and {len(firsts) - most:,} more jobs with decisions that are {verdict}"


def _first(tally: Tally) -> Iterator[str]:
    first = tally.first
    which = "the first difference" if first.verdict is Verdict.DIFFERENT else f"the first of {tally.count:,}"
    yield f"{first.job} at {moment(first.at)}: {first.verdict}, {which}"
    yield from (f"- {line}" for line in first.decided)
    yield from (f"+ {line}" for line in first.instead)


def summary(report: Report) -> dict[str, Any]:
    """Give the report as JSON can hold it."""
    return {
        "begin": report.stretch.begin.isoformat(),
        "until": report.stretch.until.isoformat(),
        "jobs": report.jobs,
        "decisions": report.decisions,
        "equal": report.count(Verdict.EQUAL),
        "other_numbers": report.count(Verdict.RENUMBERED),
        "different": report.count(Verdict.DIFFERENT),
        "not_comparable": report.why_not,
        "first_differences": [_difference(tally) for verdict in _TOLD for tally in report.first(verdict)],
    }


def _difference(tally: Tally) -> dict[str, Any]:
    first = tally.first
    return {
        "job": first.job,
        "at": first.at.isoformat(),
        "verdict": first.verdict.value,
        "count": tally.count,
        "decided": list(first.decided),
        "instead": list(first.instead),
    }
