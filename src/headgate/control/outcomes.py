"""Outcomes without an evaluation behind them: why a job was left alone before any number was looked at."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headgate.algorithm.wording import span
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
    since = span(round((now - intent.decided_at).total_seconds()))
    if intent.takes_back:
        message = f"decision {intent.takes_back} is being taken back for {since}"
        return NotReady(reason=Reason.ROLLED_BACK, message=message)
    left = span(round(max((intent.deadline - now).total_seconds(), 0)))
    message = f"decision {intent.decision_id} is under way for {since}"
    return NotReady(reason=Reason.RESCALE_IN_FLIGHT, message=f"{message}, given up or repeated in {left}")


def without_change(decision: Decision, reason: Reason, message: str) -> Decision:
    """Turn a wanted rescale into none, keeping its numbers for `explain`."""
    return replace(decision, outcome=Outcome.KEEP, reason=reason, message=message, acts=False)
