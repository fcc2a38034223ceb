"""Outcomes without an evaluation behind them: why a job was left alone before any number was looked at."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headgate.control.observation import Observation
from headgate.model.decision import Decision, Outcome
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.state import Intent


def unevaluated(seen: Observation) -> NotReady:
    """Say why an observed job was not evaluated."""
    if not seen.ctx.options.enabled:
        return NotReady(reason=Reason.DISABLED, message="job.autoscaler.enabled is false")
    return NotReady(reason=Reason.NO_SAMPLES, message="no sample was taken yet")


def in_flight(intent: Intent, now: datetime) -> NotReady:
    """Say that an earlier change is still under way."""
    since = (now - intent.decided_at).total_seconds()
    if intent.takes_back:
        message = f"decision {intent.takes_back} is being taken back for {since:.0f} s"
        return NotReady(reason=Reason.ROLLED_BACK, message=message)
    left = max((intent.deadline - now).total_seconds(), 0)
    message = f"decision {intent.decision_id} is under way for {since:.0f} s"
    return NotReady(reason=Reason.RESCALE_IN_FLIGHT, message=f"{message}, given up or repeated in {left:.0f} s")


def without_change(decision: Decision, reason: Reason, message: str) -> Decision:
    """Turn a wanted rescale into none, keeping its numbers for `explain`."""
    return replace(decision, outcome=Outcome.KEEP, reason=reason, message=message, acts=False)
