"""What past rescales and pending wishes tell, against the reference's cases."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

import pytest

from headgate.algorithm.delay import largest_wish, noted
from headgate.algorithm.history import Scaling, restart_time, trimmed, with_restart
from headgate.algorithm.rules import rules_of
from headgate.algorithm.scalability import coefficient
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.model.state import ScalingRecord, Wish
from headgate.options.declaration import PREFIX
from headgate.testing.golden import Case

V = VertexId("v")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _at(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def _record(at: datetime, after: Mapping[VertexId, int], restart_s: float | None = None) -> ScalingRecord:
    restart = None if restart_s is None else timedelta(seconds=restart_s)
    return ScalingRecord(decision_id="d", at=at, before=after, after=after, restart=restart)


def test_history_trim(case: Case) -> None:
    """Of each vertex the newest rescales are kept, as many and as old as the options allow."""
    history = [_record(_at(at), {V: 1}) for at in case.inputs["entry_times_s"]]

    kept = trimmed(history, _at(case.inputs["now_s"]), case.options)

    assert [record.at for record in kept if V in record.after] == [_at(at) for at in case.expected["kept_times_s"]]


def test_tracking_trim(case: Case) -> None:
    """Of the job the newest restarts are kept, the very newest always."""
    given = case.inputs
    options = case.options_of(
        {PREFIX + "history.max.age": f"{given['kept_span_s']}s", PREFIX + "history.max.count": given["kept_count"]}
    )
    history = [_record(_at(-age), {}) for age in given["record_ages_s"]]

    kept = trimmed(history, EPOCH, options)

    assert [record.at for record in kept] == [_at(-age) for age in case.expected["kept_ages_s"]]


def test_restart_time(case: Case) -> None:
    """The longest measured restart counts where tracking is on, up to its limit."""
    history = [_record(EPOCH, {V: 1}, seconds) for seconds in case.inputs["restart_durations_s"]]

    assert restart_time(case.options, history).total_seconds() == case.expected["restart_time_s"]


def test_restart_recording(case: Case) -> None:
    """A restart is measured once everything that the newest rescale changed runs at its target."""
    given = case.inputs
    at = given["latest_record_at_ms"]
    after = {
        VertexId(name): wanted for name, entry in given["scaling_history"].items() if (wanted := entry.get(str(at)))
    }
    record = _record(_at(at / 1000), after, given["latest_record_duration_s"])
    running = {VertexId(name): parallelism for name, parallelism in given["actual_parallelism"].items()}

    newest = with_restart([record], running, _at(given["job_running_at_ms"] / 1000), _at(at), rules_of(case.options))[
        -1
    ]

    assert (newest.restart != record.restart) is case.expected["recorded"]
    if newest.restart is not None:
        assert newest.restart / timedelta(milliseconds=1) == case.expected["restart_duration_ms"]


def test_observed_scalability(case: Case) -> None:
    """How much of its share an added subtask brought is fitted to the vertex's history."""
    scalings = [
        Scaling(
            before=entry["current_parallelism"],
            after=0,
            metrics={ScalingMetric.TRUE_PROCESSING_RATE: float(entry["true_processing_rate"])},
        )
        for entry in case.inputs["scaling_history"]
    ]

    assert coefficient(scalings, case.options) == pytest.approx(case.expected["coefficient"], rel=1e-9)


def test_delayed_scale_down_window(case: Case) -> None:
    """The largest wish within the window counts, with the flag that it was made with."""
    wishes = [_wish(trigger) for trigger in case.inputs["triggers"]]
    pending = reduce(noted, wishes, None)
    assert pending is not None
    since = _at(case.inputs["window_start_s"])
    if case.expected.get("error"):
        with pytest.raises(ValueError, match="no wish"):
            largest_wish(pending, since)
        return

    assert pending.first_at == _at(case.expected["first_trigger_s"])
    assert largest_wish(pending, since)[0] == _wish(case.expected["max"])


def _wish(trigger: Mapping[str, Any]) -> Wish:
    return Wish(at=_at(trigger["at_s"]), parallelism=trigger["parallelism"], outside=trigger["outside"])
