"""What of a job's life counts as a rescale, and what is learnt from those that were seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headgate.algorithm.downtime import LONGEST_S
from headgate.model.decision import Decision, Outcome
from headgate.model.downtime import Downtime
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.pipeline.downtime import DowntimeLearner
from headgate.pipeline.downtime_book import NotedDecisions, NotedSamples, RescaleBook
from headgate.pipeline.downtime_prior import parse_prior, prior_text, read_prior
from headgate.pipeline.downtime_runs import SeenRescale
from headgate.samplelog.layout import epoch_ms
from headgate.testing.builders import ORDERS, at, chain, sample

OTHER, FOREIGN = JobKey("prod", "other"), JobKey("elsewhere", "orders")


def _running(
    tick: int, parallelism: int, since: int, *, job_id: str = "j1", took: float | None = None, state: float | None = 1e9
) -> JobSample:
    known = {JobMeasure.STATE_SIZE: state, JobMeasure.LAST_DOWNTIME: took}
    one = sample(chain({"source": parallelism}), tick=at(tick), job_id=job_id, running_since=at(since))
    return replace(one, values={measure: value for measure, value in known.items() if value is not None})


def _acted(tick: int, *, reason: Reason = Reason.RESCALED) -> Decision:
    return Decision(id=f"d{tick}", job=ORDERS, at=at(tick), outcome=Outcome.RESCALE, reason=reason, message="")


def _book(*story: JobSample | Decision) -> RescaleBook:
    book = RescaleBook()
    for each in story:
        if isinstance(each, Decision):
            book.note_decisions([each])
        else:
            book.note_samples([each])
    return book


def _rescales(*story: JobSample | Decision) -> tuple[SeenRescale, ...]:
    return _book(*story).rescales(at(0))


def test_a_rescale_is_a_new_run_at_another_parallelism_after_a_decision() -> None:
    """The engine tells how long it took; what had to be loaded is what the run before had."""
    (seen,) = _rescales(_running(0, 2, 0), _acted(30), _running(40, 2, 0, state=2e9), _running(50, 4, 45, took=1.5))

    assert seen == SeenRescale(
        job="prod/orders", since_ms=seen.since_ms, state_bytes=2e9, downtime_s=1.5, redeploy=False
    )


def test_a_failure_is_no_rescale() -> None:
    """It restarts at the parallelism that it had, decision or not."""
    assert not _rescales(_running(0, 2, 0), _acted(30), _running(50, 2, 45, took=30.0))


@pytest.mark.parametrize("reason", [Reason.ADVICE, Reason.EXCLUDED_PERIOD])
def test_what_somebody_else_changed_is_not_ours(reason: Reason) -> None:
    """Nobody knows what they did meanwhile; advice changes nothing by itself."""
    assert not _rescales(_running(0, 2, 0), _acted(30, reason=reason), _running(50, 4, 45, took=1.5))


def test_a_second_restart_after_a_decision_is_not_the_decisions() -> None:
    """The slots came one by one: only the first restart is known to be what was decided."""
    story = _running(0, 2, 0), _acted(30), _running(50, 3, 45, took=1.0), _running(90, 4, 85, took=60.0)

    assert [each.downtime_s for each in _rescales(*story)] == [1.0]


def test_a_redeploy_has_another_job_id_and_may_be_known_from_outside_alone() -> None:
    """Then it took from the last tick at which the old job was seen until the new one ran."""
    (seen,) = _rescales(_running(0, 2, 0), _acted(30), _running(40, 2, 0), _running(70, 4, 62, job_id="j2"))

    assert (seen.redeploy, seen.downtime_s) == (True, 22.0)


def test_a_job_that_has_taken_no_checkpoint_since_it_was_redeployed_has_the_state_from_before() -> None:
    """It is redeployed once more: what it loaded then is no less than what the one before had."""
    story = (
        _running(0, 2, 0, state=3e9),
        _acted(30),
        _running(50, 4, 45, job_id="j2", state=None),
        _acted(70),
        _running(90, 2, 85, job_id="j3", state=None),
    )
    assert [each.state_bytes for each in _rescales(*story)] == [3e9, 3e9]


def test_a_rescale_of_a_state_that_nobody_knows_teaches_nothing() -> None:
    """It is not one without state."""
    assert not _rescales(_running(0, 2, 0, state=None), _acted(30), _running(50, 4, 45, took=600.0))


def test_a_downtime_that_becomes_known_later_counts() -> None:
    """The engine tells it at a later tick than the first one of the run."""
    (seen,) = _rescales(
        _running(0, 2, 0), _acted(30), _running(50, 4, 45), _running(60, 4, 45, took=1.5), _running(70, 4, 45)
    )

    assert seen.downtime_s == 1.5


def test_nothing_seen_says_nothing() -> None:
    """The prior alone is another machine's."""
    learner = DowntimeLearner(RescaleBook())
    learner.learn(at(0))

    assert learner.predict(_running(0, 2, 0), redeploy=False) is None


def _learnt(*story: JobSample | Decision) -> DowntimeLearner:
    learner = DowntimeLearner(_book(*story))
    learner.learn(at(1_000))
    return learner


STORY = (_running(0, 2, 0), _acted(30), _running(50, 4, 45, took=4.0))


def test_what_a_job_did_it_is_expected_to_do_again() -> None:
    """With what it is based on, in words."""
    said = _learnt(*STORY).predict(_running(60, 4, 45), redeploy=False)

    assert isinstance(said, Downtime)
    assert said.low < said.expected < said.high
    assert said.expected == pytest.approx(timedelta(seconds=4), rel=0.01)
    assert said.basis == "1 rescales in place of this job, 1 of its cluster"


def test_another_job_of_the_cluster_is_taken_to_do_the_same() -> None:
    """One of another cluster is not, and neither is the other kind."""
    learner = _learnt(*STORY)

    assert learner.predict(replace(_running(60, 4, 45), job=OTHER), redeploy=False) is not None
    assert learner.predict(replace(_running(60, 4, 45), job=FOREIGN), redeploy=False) is None
    assert learner.predict(_running(60, 4, 45), redeploy=True) is None


def test_more_state_takes_longer() -> None:
    """Ten times as much as when it was seen."""
    learner = _learnt(*STORY)
    usual, large = (learner.predict(_running(60, 4, 45, state=state), redeploy=False) for state in (1e9, 1e10))

    assert usual is not None
    assert large is not None
    assert large.expected > 2 * usual.expected


def test_until_its_first_checkpoint_a_job_is_taken_to_have_the_largest_state_known() -> None:
    """Its own largest; of one that was never rescaled the largest in its cluster."""
    learner = _learnt(
        _running(0, 2, 0, state=1e11),
        _acted(30),
        _running(50, 4, 45, took=600.0, state=2e10),
        _acted(70),
        _running(90, 2, 85, took=120.0),
    )
    for job in (ORDERS, OTHER):
        unknown, largest = (
            learner.predict(replace(_running(100, 2, 95, job_id="j2", state=state), job=job), redeploy=False)
            for state in (None, 1e11)
        )
        assert unknown == largest
        assert unknown is not None
        assert unknown.expected > timedelta(seconds=300)


def test_what_would_take_longer_than_anything_takes_the_longest_there_is() -> None:
    """Also where no number of days could say it."""
    said = _learnt(*STORY).predict(_running(60, 4, 45, state=1e300), redeploy=False)

    assert said is not None
    assert said.low == said.expected == said.high == timedelta(seconds=LONGEST_S)


class Given:
    """Gives what it is told to, each time once."""

    def __init__(self, *news: Sequence[SeenRescale] | Exception) -> None:
        """Remember what to give."""
        self._news = list(news)

    def rescales(self, _now: datetime, /) -> Sequence[SeenRescale]:
        """Give the next."""
        news = self._news.pop(0) if self._news else ()
        if isinstance(news, Exception):
            raise news
        return news


def _seen(since: int, took: float) -> SeenRescale:
    since_ms = epoch_ms(at(since))
    return SeenRescale(job="prod/orders", since_ms=since_ms, state_bytes=0.0, downtime_s=took, redeploy=False)


def _expected(learner: DowntimeLearner) -> float:
    said = learner.predict(_running(0, 2, 0, state=0.0), redeploy=False)
    assert said is not None
    return said.expected.total_seconds()


def test_what_was_learnt_stays_when_nothing_new_comes_or_learning_fails() -> None:
    """A log that cannot be read says nothing."""
    learner = DowntimeLearner(Given([_seen(10, 2.0)], [], OSError("gone")))
    for _ in range(2):
        learner.learn(at(0))
    with pytest.raises(OSError, match="gone"):
        learner.learn(at(0))

    assert _expected(learner) == pytest.approx(2.0)


def test_a_rescale_that_is_told_again_counts_once_as_told_last() -> None:
    """Readings of the log overlap."""
    learner = DowntimeLearner(Given([_seen(10, 50.0)], [_seen(10, 2.0), _seen(20, 2.0)]))
    learner.learn(at(0))
    learner.learn(at(0))

    assert _expected(learner) == pytest.approx(2.0)


def test_only_the_newest_rescales_of_a_job_count() -> None:
    """A hundred of them."""
    old, new = [_seen(10 + i, 60.0) for i in range(150)], [_seen(1_000 + i, 2.0) for i in range(100)]
    learner = DowntimeLearner(Given([*old, *new]))
    learner.learn(at(0))

    assert _expected(learner) == pytest.approx(2.0)


def test_what_is_told_again_though_it_is_too_old_is_not_learnt_anew() -> None:
    """What was said before stands, to the same object."""
    told = [_seen(10, 60.0), _seen(3_000_000, 2.0)]
    learner = DowntimeLearner(Given(told, told))
    learner.learn(at(3_000_000))
    assert _expected(learner) == pytest.approx(2.0)
    said = learner.predict(_running(0, 2, 0, state=0.0), redeploy=False)
    learner.learn(at(3_000_000))

    assert learner.predict(_running(0, 2, 0, state=0.0), redeploy=False) is said


def test_a_book_forgets_jobs_that_are_gone() -> None:
    """As soon as their rescales are too old to count; those that still run stay, however long they do."""
    month = 31 * 24 * 3_600
    book = _book(*STORY, replace(STORY[0], job=OTHER), replace(_running(month, 2, 0), job=OTHER))
    assert len(book.rescales(at(1_000))) == 1
    book.rescales(at(month))
    book.note_samples([_running(month, 4, 45), replace(_running(month, 4, month - 5, took=1.0), job=OTHER)])
    book.note_decisions([replace(_acted(month - 10), job=OTHER)])

    assert [each.job for each in book.rescales(at(1_000))] == [str(OTHER)]


def test_both_sinks_are_noted_on_the_way() -> None:
    """What is kept elsewhere is noted here."""

    class Sink:
        kept: list[object]

        def __init__(self) -> None:
            self.kept = []

        def append(self, samples: Sequence[JobSample], /) -> None:
            self.kept += samples

        def append_decisions(self, decisions: Sequence[Decision], /) -> None:
            self.kept += decisions

    book, sink = RescaleBook(), Sink()
    first, decision, then = STORY
    NotedSamples(sink, book).append([first])
    NotedDecisions(sink, book).append_decisions([decision])
    NotedSamples(sink, book).append([then])

    assert sink.kept == list(STORY)
    assert len(book.rescales(at(0))) == 1


def test_the_packages_prior_can_be_read_and_written() -> None:
    """It has both kinds, and sensible numbers."""
    prior = read_prior()

    assert (prior.base_s > 0).all()
    assert (prior.base_s < LONGEST_S).all()
    assert (prior.per_byte_s > 0).all()
    assert (prior.spread > 0).all()
    assert prior_text(parse_prior(prior_text(prior))) == prior_text(prior)
