"""How a job stands, by its last decision, what is remembered of it, and what people have ordered."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.control.rollback.trials import trial_of
from headgate.model.decision import Decision
from headgate.model.orders import Given
from headgate.model.reasons import Reason
from headgate.model.state import JobState
from headgate.overview.row import Attention, Standing

_BY_REASON = {
    Reason.JOB_UNREACHABLE: Standing.UNREACHABLE,
    Reason.JOB_NOT_RUNNING: Standing.NOT_RUNNING,
    Reason.RESCALE_IN_FLIGHT: Standing.RESCALING,
    Reason.RESCALED: Standing.RESCALING,
    Reason.ROLLED_BACK: Standing.ROLLED_BACK,
    Reason.PAUSED: Standing.PAUSED,
    Reason.DISABLED: Standing.DISABLED,
}

_ALARMS = {Standing.UNREACHABLE, Standing.NOT_RUNNING, Standing.ROLLING_BACK, Standing.ROLLED_BACK}
_MOVING = {Standing.RESCALING, Standing.ON_TRIAL}

_ALARMING = {Reason.CYCLE_FAILED, Reason.PLUGIN_FAILED, Reason.JOB_UNRECOVERABLE, Reason.REACTIVE_UNSUITABLE}
_CALM = {
    Reason.BALANCED,
    Reason.WITHIN_BAND,
    Reason.STABILIZING,
    Reason.WINDOW_FILLING,
    Reason.NO_SAMPLES,
    Reason.COST_UNKNOWN,
    Reason.DISABLED,
    Reason.SCALE_DOWN_DELAYED,
    Reason.NOT_WORTH_RESTART,
    Reason.ENGINE_REACTIVE,
    Reason.INCREASE_TOO_SMALL,
    Reason.SLOTS_UNSETTLED,
    Reason.CHECKPOINT_AWAITED,
}


def standing(decision: Decision, state: JobState, pause: Given | None) -> tuple[Standing, ...]:
    """Give all that holds, the gravest first; a job of which nothing else is to be said runs."""
    found = set(_standing(decision, state, pause))
    if Standing.ROLLING_BACK in found:
        found -= {Standing.ROLLED_BACK, Standing.RESCALING, Standing.ON_TRIAL}
    return tuple(one for one in Standing if one in found) or (Standing.RUNNING,)


def attention(decision: Decision, standings: tuple[Standing, ...], *, left_out: bool) -> Attention:
    """Tell whether somebody should look; always at a job that nobody decides on while others are."""
    forecast = decision.forecast
    breaks = forecast is not None and forecast.breaks
    if left_out or breaks or decision.reason in _ALARMING or _ALARMS.intersection(standings):
        return Attention.ALARM
    if Standing.PAUSED in standings:
        return Attention.HELD
    if decision.changes or _MOVING.intersection(standings) or decision.reason is Reason.WORKERS_AWAITED:
        return Attention.MOVING
    return Attention.CALM if decision.reason in _CALM else Attention.HELD


def _standing(decision: Decision, state: JobState, pause: Given | None) -> Iterator[Standing]:
    if decision.reason in _BY_REASON:
        yield _BY_REASON[decision.reason]
    if state.intent:
        yield Standing.ROLLING_BACK if state.intent.takes_back else Standing.RESCALING
    if state.rollback:
        yield Standing.ROLLED_BACK
    if trial_of(state):
        yield Standing.ON_TRIAL
    if pause:
        yield Standing.PAUSED
