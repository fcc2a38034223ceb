"""How the listing and the timeline word reasons, counts and ages, shortly."""

from __future__ import annotations

import math
import re
from datetime import timedelta

from headgate.algorithm.wording import amount
from headgate.model.decision import Decision
from headgate.model.orders import Given
from headgate.model.reasons import Reason

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_LEAST_SHORTENED = 10_000
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def words(reason: str) -> str:
    """Write a CamelCase reason as words: `WithinBand` is `within band`."""
    return _WORD.sub(" ", reason).lower()


def why_not(decision: Decision, pause: Given | None = None) -> str:
    """Say in a few words why a job is not scaled; empty while it is."""
    if pause is not None:
        return told(pause)
    if decision.is_made:
        return ""
    if decision.reason is Reason.ADVICE:
        return "advice only"
    held = {proposal.steps[-1].reason for proposal in decision.proposals if proposal.outside and proposal.steps}
    if decision.reason is Reason.LIMITED and held:
        return f"limited: {', '.join(sorted(map(words, held)))}"
    return words(decision.reason)


def told(pause: Given) -> str:
    """Say by whom a job is paused, and why."""
    return f"paused by {pause.by}" + (f": {pause.why}" if pause.why else "")


def count(number: float) -> str:
    """Write a number of records shortly: `9300`, `12.3k`, `4.5M`."""
    if math.isfinite(number) and number >= _LEAST_SHORTENED:
        rounded = float(f"{number:.3g}")
        scale, letter = next(each for each in _SCALES if rounded >= each[0])
        return f"{rounded / scale:g}{letter}"
    return amount(number)


def age(length: timedelta | float) -> str:
    """Write a duration or seconds in its largest unit: `41 s`, `12 min`, `3 h`, `2 d`."""
    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    if math.isinf(seconds):
        return "no end"
    for unit, name in _UNITS:
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"
