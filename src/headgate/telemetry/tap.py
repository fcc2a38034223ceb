"""Where the board listens in: decorators over ports, and listeners beside the ones there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headgate.control.deciding import Decider
from headgate.control.leases import Leases
from headgate.control.runner import BeatListener, Listener, TickListener
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.model.measures import JobStatus
from headgate.ports import (
    CircumstanceSink,
    DecisionSink,
    EventHandler,
    FleetEvaluator,
    JobList,
    JobListFetcher,
    SampleSink,
    ScalingRealizer,
    StateStore,
)
from headgate.telemetry.board import Board
from headgate.telemetry.watched import (
    WatchedCircumstanceSink,
    WatchedDecider,
    WatchedDecisionSink,
    WatchedEvaluator,
    WatchedRealizer,
    WatchedSampleSink,
    watched_store,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """Lets a board hear of what passes; without a board everything is given back as it is."""

    board: Board | None = None

    def events(self, handler: EventHandler) -> EventHandler:
        """Hear of the events that a handler takes."""
        return handler if self.board is None else CountingEventHandler(handler, self.board)

    def fetcher(self, cluster: str, fetcher: JobListFetcher) -> JobListFetcher:
        """Hear of a cluster's answers."""
        return fetcher if self.board is None else WatchedJobListFetcher(fetcher, cluster, self.board)

    def decisions(self, listener: Listener) -> Listener:
        """Hear of every cycle's decisions, before the listener does."""
        board = self.board
        if board is None:
            return listener

        def both(decisions: tuple[Decision, ...]) -> None:
            board.decided(decisions)
            listener(decisions)

        return both

    def early_decisions(self, listener: Listener) -> Listener:
        """Hear of decisions that were made before their turn, before the listener does."""
        board = self.board
        if board is None:
            return listener

        def both(decisions: tuple[Decision, ...]) -> None:
            board.decided_early(decisions)
            listener(decisions)

        return both

    @property
    def ticks(self) -> TickListener:
        """Hear of every tick."""
        return (lambda _: None) if self.board is None else self.board.ticked

    @property
    def begins(self) -> BeatListener:
        """Hear of every tick that begins."""
        return (lambda _: None) if self.board is None else self.board.vitals.began

    @property
    def stops(self) -> Callable[[], None]:
        """Hear of the stop."""
        return (lambda: None) if self.board is None else self.board.vitals.stop

    def store(self, store: StateStore) -> StateStore:
        """Hear whether a store answers."""
        return store if self.board is None else watched_store(store, self.board.vitals)

    def leases(self, leases: Leases | None) -> Leases | None:
        """Know how the jobs are divided."""
        if self.board is not None and leases is not None:
            self.board.vitals.divide(lambda: leases.standing)
        return leases

    def samples(self, cluster: str, sink: SampleSink) -> SampleSink:
        """Hear of a cluster's samples, which are to come from now on."""
        if self.board is None:
            return sink
        self.board.vitals.expect([cluster])
        return WatchedSampleSink(sink, cluster, self.board.vitals)

    def kept(self, sink: DecisionSink) -> DecisionSink:
        """Hear of decisions that are kept."""
        return sink if self.board is None else WatchedDecisionSink(sink, self.board.vitals, self.board.phases)

    def recorded(self, sink: CircumstanceSink) -> CircumstanceSink:
        """Hear of circumstances that are kept."""
        return sink if self.board is None else WatchedCircumstanceSink(sink, self.board.vitals, self.board.phases)

    def evaluator(self, evaluator: FleetEvaluator) -> FleetEvaluator:
        """Hear of evaluations."""
        return evaluator if self.board is None else WatchedEvaluator(evaluator, self.board.vitals, self.board.phases)

    def realizer(self, realizer: ScalingRealizer) -> ScalingRealizer:
        """Hear of requests to engines."""
        return realizer if self.board is None else WatchedRealizer(realizer, self.board.phases)

    def decider(self, decider: Decider) -> Decider:
        """Hear of deciding for jobs."""
        return decider if self.board is None else WatchedDecider(decider, self.board.phases)


class CountingEventHandler:
    """
    Counts the events that the handler behind it has taken.

    Stands before any merging, so that what is told once an hour is counted every time. One that could not be delivered
    is offered again, and counted then.
    """

    def __init__(self, handler: EventHandler, board: Board) -> None:
        """Stand in front of `handler`."""
        self._handler = handler
        self._board = board

    def handle(self, event: Event, /) -> None:
        """
        Hand the event on, then count it.

        Raises:
            TransientError: from the handler behind.
        """
        self._handler.handle(event)
        self._board.told(event)


class WatchedJobListFetcher:
    """Notes whether one cluster answers, and how many live jobs it lists."""

    def __init__(self, fetcher: JobListFetcher, cluster: str, board: Board) -> None:
        """Stand in front of the fetcher of `cluster`."""
        self._fetcher = fetcher
        self._cluster = cluster
        self._board = board

    async def fetch(self) -> JobList:
        """List the jobs as the fetcher behind does."""
        listed = await self._fetcher.fetch()
        if self._cluster in listed.failures:
            self._board.unlisted(self._cluster)
        else:
            self._board.listed(self._cluster, sum(not job.status.is_over for job in listed.jobs))
            if not any(job.status is JobStatus.RUNNING for job in listed.jobs):
                self._board.vitals.idled(self._cluster)
        return listed
