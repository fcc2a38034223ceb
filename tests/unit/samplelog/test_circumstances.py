"""What decisions depended on is said once as long as it holds, and read back as it held at each tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.errors import UnreachableError
from headgate.model.downtime import Downtime
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.metrics import NotReady
from headgate.model.orders import Given, Orders
from headgate.model.reasons import Reason
from headgate.model.redeploy import Launch, Redeploy, Start
from headgate.model.rollback import Run, Trial
from headgate.model.samples import EngineSettings
from headgate.model.state import DelayedScaleDown, Intent, JobState, ScalingRecord, Wish
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import Mode
from headgate.options.signals import SignalOptions, SignalUse
from headgate.ports import Circumstances, JobContext
from headgate.samplelog.circumstances import as_of, read_circumstances, read_options
from headgate.samplelog.compaction import compact
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, START

TEN = timedelta(seconds=10)
OTHER = JobKey("prod", "payments")
USUAL = Circumstances(
    at=START,
    ctx=JobContext(key=ORDERS, job_id="j1", status=JobStatus.RUNNING, options=AutoscalerOptions()),
    mode=Mode.ACT,
    collect_interval=TEN,
    sampled_at=START - TEN,
    settings=EngineSettings(checkpoint_interval_s=30.0),
)
SOURCE = VertexId("source")
WISHES = {SOURCE: DelayedScaleDown(first_at=START, wishes=(Wish(at=START, parallelism=2, outside=True),))}
RECORD = ScalingRecord(decision_id="d1", at=START, before={SOURCE: 1}, after={SOURCE: 4}, restart=TEN)


def later(known: Circumstances, ticks: int, **changes: object) -> Circumstances:
    """Give circumstances some ticks of 30 s later, changed where that is said."""
    return replace(as_of(known, known.at + ticks * timedelta(seconds=30)), **changes)  # type: ignore[arg-type]


def kept(log: Path, said: Sequence[Circumstances]) -> list[dict[str, object]]:
    """Let one process say something at one tick after the other, and give the rows that this makes."""
    writer = SampleLog(log)
    for each in said:
        writer.append_circumstances([each])
    return rows(log)


def rows(log: Path) -> list[dict[str, object]]:
    """Give all rows in the order of the log."""
    found: list[dict[str, object]] = (
        LogReader(log).read("circumstances", START - timedelta(days=1), START + timedelta(days=1)).to_pylist()
    )
    return found


def news(row: dict[str, object]) -> set[str]:
    """Give the columns in which a row says something."""
    return {name for name, value in row.items() if value is not None} - {"job", "at_ms"}


def test_what_holds_on_is_not_said_again(tmp_path: Path) -> None:
    """A fleet in balance costs no row; the sample's age counts, not its tick."""
    assert len(kept(tmp_path, [later(USUAL, tick) for tick in range(10)])) == 1


def test_only_what_is_new_is_said(tmp_path: Path) -> None:
    """One thing more than before is one column of one row."""
    wishing = later(USUAL, 1, state=JobState(delayed=WISHES))

    first, second = kept(tmp_path, [USUAL, wishing, later(wishing, 1)])

    assert {"options", "state", "listed"} <= news(first)
    assert news(second) == {"state"}


def test_each_hour_begins_with_everything(tmp_path: Path) -> None:
    """Hours expire whole: no row may lean on one of another hour."""
    first, second = kept(tmp_path, [USUAL, later(USUAL, 120)])

    assert news(first) == news(second)


def test_another_process_begins_with_everything(tmp_path: Path) -> None:
    """It knows nothing of what was said before it."""
    kept(tmp_path, [USUAL])
    SampleLog(tmp_path, shard="1").append_circumstances([later(USUAL, 1)])

    first, second = rows(tmp_path)
    assert news(first) == news(second)


def test_a_job_that_was_another_process_s_meanwhile_begins_anew(tmp_path: Path) -> None:
    """That one may have said something else of it."""
    other = replace(USUAL, ctx=replace(USUAL.ctx, key=OTHER))
    log = SampleLog(tmp_path)
    log.append_circumstances([USUAL, other])
    log.append_circumstances([later(other, 1)])
    log.append_circumstances([later(USUAL, 2), later(other, 2)])

    assert [row["job"] for row in rows(tmp_path)] == [str(ORDERS), str(OTHER), str(ORDERS)]


def test_what_is_decided_early_says_nothing_of_the_others(tmp_path: Path) -> None:
    """They had no turn: what was said of them holds, and the next cycle need not repeat it."""
    other = replace(USUAL, ctx=replace(USUAL.ctx, key=OTHER))
    log = SampleLog(tmp_path)
    log.append_circumstances([USUAL, other])
    log.append_circumstances([replace(later(other, 1), early=True)])
    log.append_circumstances([later(USUAL, 2), later(other, 2)])

    assert [row["job"] for row in rows(tmp_path)] == [str(ORDERS), str(OTHER)]


def test_the_same_tick_again_replaces_the_first(tmp_path: Path) -> None:
    """What a retry says must stand in the log as if it had been said once."""
    assert len(kept(tmp_path, [USUAL, USUAL])) == 1


def test_what_could_not_be_written_is_new_the_next_time(tmp_path: Path) -> None:
    """A full disk loses nothing but its own tick."""
    log = SampleLog(tmp_path / "log")
    (tmp_path / "log").write_text("in the way")
    with pytest.raises(UnreachableError):
        log.append_circumstances([USUAL])
    (tmp_path / "log").unlink()
    log.append_circumstances([later(USUAL, 1)])

    (row,) = rows(tmp_path / "log")
    assert "options" in news(row)


def test_everything_is_read_back_as_it_held(tmp_path: Path) -> None:
    """Each kind of circumstance comes back equal, after compaction too."""
    paused = Orders(pause=Given(at=START, by="alice@laptop", why="the fair"))
    options = AutoscalerOptions(metrics_window=timedelta(minutes=3), utilization_target=0.55)
    changed = later(
        USUAL,
        1,
        ctx=replace(USUAL.ctx, options=options, orders=paused, started_at=START, status=JobStatus.RESTARTING),
        mode=Mode.ADVISE,
        since=START,
        problem=NotReady(reason=Reason.JOB_NOT_RUNNING, message="the job is RESTARTING"),
        state=JobState(delayed=WISHES, history=(RECORD,)),
        downtime=Downtime(expected=TEN, low=TEN, high=2 * TEN, basis="3 rescales of this job"),
        sampled_at=None,
        settings=None,
    )
    said = [USUAL, changed, later(USUAL, 2)]
    before = list(read_circumstances(kept(tmp_path, said)))
    compact(tmp_path, START + timedelta(days=1), closed_for=timedelta())

    assert before == said
    assert list(read_circumstances(rows(tmp_path))) == said


def test_no_secret_of_a_launch_reaches_the_log(tmp_path: Path) -> None:
    """Arguments and configuration of a launch spec are nobody's business there; events on their way neither."""
    event = Event(at=START, type=EventType.NORMAL, reason=EventReason.PAUSED, message="hush", key="k", subject=ORDERS)
    launch = Launch(jar="job.jar", args=("--password", "hush"), configuration={"a": "hush"}, parallelism=3)

    (row,) = kept(tmp_path, [replace(USUAL, state=JobState(launch=launch, outbox=(event,)))])

    assert "hush" not in str(row)
    (known,) = read_circumstances([row])
    assert known.state.launch is not None
    assert known.state.launch.parallelism == 3


def test_no_secret_of_a_redeploy_under_observation_reaches_the_log(tmp_path: Path) -> None:
    """A trial knows how the job was started, an intent knows of its trial, and both outlive the redeploy."""
    launch = Launch(jar="job.jar", args=("--password", "hush"))
    redeploy = Redeploy(
        launch=launch, successor="j2", after=Start(parallelism=2), before=Start(parallelism=1), realizer="mine"
    )
    before = Run(job_id="j1", fingerprint="f", parallelism={SOURCE: 1})
    trial = Trial(decision_id="d1", began_at=START, before=before, after={SOURCE: 2}, redeploy=redeploy)
    intent = Intent(
        decision_id="d1",
        decided_at=START,
        job_id="j1",
        fingerprint="f",
        before={SOURCE: 1},
        after={SOURCE: 2},
        deadline=START,
        redeploy=redeploy,
        trial=trial,
    )

    (row,) = kept(tmp_path, [replace(USUAL, state=JobState(intent=intent, trial=trial))])

    assert "hush" not in str(row)
    (known,) = read_circumstances([row])
    assert known.state.trial
    assert known.state.trial.redeploy
    assert known.state.trial.redeploy.realizer == "mine"


def test_what_people_wrote_for_an_option_is_not_kept(tmp_path: Path) -> None:
    """Its value is among the options that hold; a text that was none may be anything."""
    given = Given(at=START, by="alice@laptop", why="hush")
    orders = Orders(pause=replace(given, why="the fair"), options={"a.b": "hush"}, given={"a.b": given})

    (row,) = kept(tmp_path, [replace(USUAL, ctx=replace(USUAL.ctx, orders=orders))])

    assert "hush" not in str(row)
    (known,) = read_circumstances([row])
    assert known.ctx.orders == Orders(pause=orders.pause)


def test_no_secret_of_a_signal_reaches_the_log(tmp_path: Path) -> None:
    """What is asked for may hold one; its declaration does all the rest of the work in a replay."""
    signal = SignalOptions(name="db", source="db", path="/v1?key=hush", use=SignalUse.GATE, condition="< 0.8")
    options = AutoscalerOptions(signals_in_force=(signal,))

    (row,) = kept(tmp_path, [replace(USUAL, ctx=replace(USUAL.ctx, options=options))])

    assert "hush" not in str(row)
    (known,) = read_circumstances([row])
    assert known.ctx.options.signals_in_force == (replace(signal, path=""),)


def test_options_are_kept_whole(tmp_path: Path) -> None:
    """A default of this version may be another one in the next."""
    (row,) = kept(tmp_path, [USUAL])

    assert "utilization_target" in str(row["options"])


def test_a_tick_is_of_one_cycle(tmp_path: Path) -> None:
    """Two instants in one call are a mistake of the caller."""
    with pytest.raises(ValueError, match="2 ticks"):
        SampleLog(tmp_path).append_circumstances([USUAL, later(USUAL, 1)])


def test_nothing_is_read_of_a_job_before_all_of_it_is_known(tmp_path: Path) -> None:
    """A row that leans on one that is gone says too little."""
    _, second = kept(tmp_path, [USUAL, later(USUAL, 1, mode=Mode.ADVISE)])

    assert list(read_circumstances([second])) == []


def test_what_was_set_to_its_default_is_known_in_a_replay(tmp_path: Path) -> None:
    """A log of an earlier version, which does not tell, is read as well."""
    meant = AutoscalerOptions(keys_set=("scale-down.interval",))
    (row,) = kept(tmp_path, [replace(USUAL, ctx=replace(USUAL.ctx, options=meant))])

    (known,) = read_circumstances([row])
    assert known.ctx.options == meant
    older = str(row["options"]).replace('"keys_set":["scale-down.interval"],', "")
    assert older != row["options"]
    assert read_options(older) == AutoscalerOptions()
