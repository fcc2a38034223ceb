"""A replay gives the decisions of a recorded run again, and shows where other options would have led elsewhere."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pytest
from tests.unit.replay.conftest import Replay, Start, job, options_for, seconds

from headgate.config.other import OtherOptions
from headgate.engines.simulated.cluster import START
from headgate.errors import ConfigError, NotFoundError
from headgate.model.decision import Outcome
from headgate.model.orders import Given
from headgate.model.reasons import Reason
from headgate.model.tables import CIRCUMSTANCES
from headgate.replay.comparing import Verdict
from headgate.replay.past import NO_SAMPLE, UNREADABLE, UNRECORDED
from headgate.replay.redeciding import ITS_PAST
from headgate.replay.replaying import Report, replay
from headgate.replay.telling import lines, summary
from headgate.samplelog import parquet
from headgate.samplelog.compaction import compact
from headgate.samplelog.reader import LogReader
from headgate.samplelog.rows import decision_json
from headgate.testing.recorded import RecordedService


def verdicts(report: Report) -> dict[Verdict, int]:
    """Count the decisions by verdict, those that do not occur left out."""
    return {verdict: count for verdict in Verdict if (count := report.count(verdict))}


def test_an_eventful_run_is_decided_again_byte_for_byte(eventful: RecordedService, replayed: Replay) -> None:
    """A pause, growth, a gap in the samples, a new process, shrinking and a set option: every decision is equal."""
    reasons = Counter(decision.reason for decision in eventful.decisions)
    assert reasons[Reason.RESCALED] >= 2
    assert reasons[Reason.PAUSED]
    assert reasons.keys() & {Reason.NO_SAMPLES, Reason.STALE_METRICS, Reason.PARTIAL_METRICS}

    report = replayed(eventful)

    assert verdicts(report) == {Verdict.EQUAL: len(eventful.decisions)}, list(lines(report, most=3))


def test_a_job_that_reacts_fast_is_decided_again_byte_for_byte(quick: RecordedService, replayed: Replay) -> None:
    """Also what was decided between the ticks, by samples that were taken there, and across another process."""
    early = [decision for decision in quick.decisions if (decision.at - START) % quick.scenario.collect_interval]
    assert any(decision.acts for decision in early)
    assert Reason.EVIDENCE_AWAITED in {decision.reason for decision in quick.decisions}

    report = replayed(quick)

    assert verdicts(report) == {Verdict.EQUAL: len(quick.decisions)}, list(lines(report, most=3))


def test_what_a_job_had_done_by_its_window_is_told(quick: RecordedService, replayed: Replay) -> None:
    """The other reaction is an option like any other: its first decision that is another one is shown."""
    report = replayed(quick, headgate_reaction="windowed")

    assert report.first(Verdict.DIFFERENT)


def test_a_rollback_that_somebody_ordered_is_replayed(start: Start, replayed: Replay) -> None:
    """It is under way at once, lasts, and pauses scaling: none of these decisions is another one."""
    run = start()
    run.advance_to(seconds(100))
    order = Given(at=run.now, by="alice@laptop")
    run.store.change_orders(run.decisions[0].job, lambda orders: replace(orders, rollback=order))
    run.advance_to(seconds(150))

    assert Reason.ROLLED_BACK in {decision.reason for decision in run.decisions}
    assert verdicts(replayed(run)) == {Verdict.EQUAL: len(run.decisions)}


def test_the_log_holds_the_decisions_as_they_were_made(eventful: RecordedService) -> None:
    """What a replay is held against is byte for byte what the service decided."""
    job_key = eventful.decisions[0].job
    kept = LogReader(eventful.root).decisions(job_key, eventful.decisions[0].at, eventful.now)

    loud = [(a, b) for a, b in zip(kept, eventful.decisions, strict=True) if not (b.evaluated and b.evaluated.balanced)]

    assert loud
    assert all(decision_json(read) == decision_json(made) for read, made in loud)


def test_other_options_are_told_by_their_first_difference(eventful: RecordedService, ambitious: Report) -> None:
    """With a lower utilization target the first growth goes further: it is told with the numbers of both."""
    first = next(decision for decision in eventful.decisions if decision.outcome is Outcome.RESCALE)

    (tally,) = ambitious.first(Verdict.DIFFERENT)
    assert tally.first.at <= first.at
    assert any("at 0.40" in line for line in tally.first.instead)
    assert not any("at 0.40" in line for line in tally.first.decided)


def test_after_the_first_difference_the_past_no_longer_applies(eventful: RecordedService, ambitious: Report) -> None:
    """What would have been after it nobody knows: these decisions are not compared, and counted as such."""
    (tally,) = ambitious.first(Verdict.DIFFERENT)
    later = [decision for decision in eventful.decisions if decision.at > tally.first.at]
    assert tally.count == 1
    assert ambitious.why_not == {ITS_PAST: len(later)}


def test_wishes_to_shrink_go_on_as_the_other_options_let_them(eventful: RecordedService, replayed: Replay) -> None:
    """With a shorter interval the job would have shrunk before: its wishes are those of the replay by then."""
    report = replayed(eventful, scale__down_interval="10s")

    (tally,) = report.first(Verdict.DIFFERENT)
    assert any("wanted since" in line for line in tally.first.decided)
    assert any("Rescale" in line for line in tally.first.instead)


def test_other_numbers_that_change_nothing_are_no_difference(
    eventful: RecordedService, ambitious: Report, replayed: Replay
) -> None:
    """A limit that never bites changes no decision; a target that only moves the band is told apart from a change."""
    since = eventful.decisions[-15].at
    assert verdicts(replayed(eventful, since=since, vertex_max__parallelism="150")) == {Verdict.EQUAL: 15}

    (tally,) = ambitious.first(Verdict.RENUMBERED)
    assert tally.first.at < ambitious.first(Verdict.DIFFERENT)[0].first.at


def test_a_replay_may_begin_in_the_middle(eventful: RecordedService, replayed: Replay) -> None:
    """What was said once before the stretch still holds in it, and windows reach back before its begin."""
    since = eventful.decisions[20].at

    assert verdicts(replayed(eventful, since=since)) == {Verdict.EQUAL: len(eventful.decisions) - 20}


def test_compaction_changes_nothing(eventful: RecordedService, replayed: Replay) -> None:
    """A log whose hours were put together is replayed to the same end."""
    copy = RecordedService(scenario=eventful.scenario, root=eventful.root.with_name("compacted"))
    shutil.copytree(eventful.root, copy.root, dirs_exist_ok=True)
    copy.decisions, copy._now = eventful.decisions, eventful._now
    assert compact(copy.root, eventful.now + timedelta(days=1), closed_for=timedelta())

    assert verdicts(replayed(copy)) == {Verdict.EQUAL: len(eventful.decisions)}


def test_a_cycle_that_begins_late_is_replayed_by_what_it_saw(start: Start, replayed: Replay) -> None:
    """Its sample is newer than its tick: the window ends there in both, and at the stretch's end too."""
    run = start()
    run.delay = run.scenario.collect_interval
    run.advance_to(seconds(180))
    stretch = replace(replayed(run).stretch, until=run.decisions[-1].at)

    report = replay(options_for(run.root), stretch, OtherOptions.read({}))

    assert any(decision.acts for decision in run.decisions)
    assert verdicts(report) == {Verdict.EQUAL: len(run.decisions)}


def test_what_is_decided_before_a_late_cycle_is_replayed_too(reacting: RecordedService, replayed: Replay) -> None:
    """The cycle leaves the job at what was decided after its tick: decisions stand in the log as they were made."""
    run = reacting
    run.delay = run.scenario.collect_interval
    run.advance_to(seconds(140))

    assert any(decision.acts for decision in run.decisions if (decision.at - START) % run.scenario.collect_interval)
    assert [decision.at for decision in run.decisions] == sorted(decision.at for decision in run.decisions)
    assert verdicts(replayed(run)) == {Verdict.EQUAL: len(run.decisions)}


def test_only_the_jobs_that_are_asked_for_are_replayed(start: Start, replayed: Replay) -> None:
    """A pattern means keys or names."""
    run = start(job("orders"), job("payments", peak=900.0))
    run.advance_to(seconds(60))

    assert replayed(run).jobs == 2
    assert {tally.first.job for tally in replayed(run, pattern="pay*").tallies} == {"simulated/payments"}
    assert replayed(run, pattern="*/orders").jobs == 1


def test_a_job_with_plugins_is_left_out_with_the_reason(start: Start, replayed: Replay) -> None:
    """What a plugin goes by is not in the log."""
    run = start()
    run.advance_to(seconds(60))

    (why,) = replayed(run, metric_evaluator_class="own").why_not
    assert "plugins (an evaluator or evaluator plugins)" in why


def test_a_log_of_an_older_version_says_from_when_on_a_replay_is_possible(start: Start, replayed: Replay) -> None:
    """It has decisions and samples, but not what they depended on."""
    run = start()
    run.advance_to(seconds(60))
    shutil.rmtree(run.root / "circumstances")

    with pytest.raises(NotFoundError, match="does not hold what its decisions depended on"):
        replayed(run)


def test_decisions_before_the_record_begins_are_told_apart(start: Start, replayed: Replay) -> None:
    """The service was updated in the middle of the stretch: what came before cannot be compared."""
    run = start()
    run.advance_to(seconds(60))
    files = sorted((run.root / "circumstances").rglob("*.parquet"))
    run.restart()
    run.advance_to(seconds(120))
    for file in files:
        file.unlink()

    report = replayed(run)

    assert verdicts(report) == {Verdict.EQUAL: 6, Verdict.NOT_COMPARABLE: 6}
    assert report.why_not == {UNRECORDED: 6}
    assert any("in the log since" in line for line in lines(report, most=1))


def test_a_sample_that_is_gone_is_told(start: Start, replayed: Replay) -> None:
    """Nothing is decided again by another sample than that of then."""
    run = start()
    run.advance_to(seconds(60))
    run.skips = lambda at: at > seconds(60)
    gone = max((run.root / "jobs").rglob("*.parquet"))
    gone.unlink()

    assert replayed(run).why_not == {NO_SAMPLE: 1}


def test_a_log_without_samples_is_refused(start: Start, replayed: Replay) -> None:
    """A service that evaluates in memory keeps none."""
    run = start()
    run.advance_to(seconds(20))
    shutil.rmtree(run.root / "samples")

    with pytest.raises(NotFoundError, match="keeps none"):
        replayed(run)


def test_other_options_are_checked_before_anything_is_read(eventful: RecordedService, replayed: Replay) -> None:
    """A key that is none, and a value that fits nothing, are told together."""
    with pytest.raises(ConfigError) as told:
        replayed(eventful, utilisation_target="0.4", utilization_target="much")

    assert len(told.value.faults) == 2


def test_the_report_is_told_to_machines_as_to_people(eventful: RecordedService, ambitious: Report) -> None:
    """The first difference of the job stands in both, with what was decided and what would have been."""
    told = list(lines(ambitious, most=10))
    plain = summary(ambitious)

    assert plain["decisions"] == len(eventful.decisions)
    assert plain["different"] == 1
    assert [each["verdict"] for each in plain["first_differences"]] == ["different", "other numbers"]
    assert f"- {plain['first_differences'][0]['decided'][0]}" in told
    assert f"+ {plain['first_differences'][0]['instead'][0]}" in told


def test_what_another_version_kept_is_told(start: Start, replayed: Replay) -> None:
    """An option that this version does not know makes a decision incomparable, and nothing else fails."""
    run = start()
    run.advance_to(seconds(30))
    (file,) = (run.root / "circumstances").rglob("*.parquet")
    rows = parquet.read(file, CIRCUMSTANCES).to_pylist()
    parquet.write(file, pa.Table.from_pylist([row | {"options": '{"other": 1}'} for row in rows], CIRCUMSTANCES))

    (why,) = replayed(run).why_not
    assert why.startswith(UNREADABLE)
