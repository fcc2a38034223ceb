"""Every cycle keeps what its decisions depended on; what goes wrong with that is an event and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from headgate.control.observation import Observation
from headgate.control.recording import Recorder
from headgate.control.restarts import Restarts
from headgate.errors import UnreachableError
from headgate.model.measures import JobStatus
from headgate.model.state import JobState, VersionedState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import Mode
from headgate.ports import Circumstances, JobContext
from headgate.testing.builders import ORDERS, START, at, chain, sample
from headgate.testing.fakes import RecordingEvents
from headgate.testing.scenario import Scenario

SEEN = Observation(
    ctx=JobContext(key=ORDERS, job_id="j1", status=JobStatus.RUNNING, options=AutoscalerOptions()),
    sample=sample(chain({"source": 2})),
)


@dataclass(slots=True)
class Sink:
    """Keeps what it is given, or fails."""

    fault: Exception | None = None
    kept: list[Circumstances] = field(default_factory=list)

    def append_circumstances(self, circumstances: Sequence[Circumstances], /) -> None:
        """Keep them."""
        if self.fault:
            raise self.fault
        self.kept.extend(circumstances)


def recorder(sink: Sink, events: RecordingEvents) -> Recorder:
    """Give a recorder of a service that acts."""
    interval = timedelta(seconds=10)
    return Recorder(sink=sink, events=events, collect_interval=interval, restarts=Restarts(), mode=Mode.ACT)


async def test_a_cycle_keeps_the_sample_and_the_state_that_it_began_with() -> None:
    """That is what its decisions follow from."""
    sink, state = Sink(), JobState(job_wide=3)

    await recorder(sink, RecordingEvents()).record({ORDERS: SEEN}, {ORDERS: VersionedState(state=state)}, START)

    (kept,) = sink.kept
    assert SEEN.sample
    assert (kept.at, kept.sampled_at, kept.state, kept.mode) == (START, SEEN.sample.at, state, Mode.ACT)


async def test_a_job_whose_state_could_not_be_had_has_none() -> None:
    """Nothing was decided for it."""
    sink = Sink()

    await recorder(sink, RecordingEvents()).record({ORDERS: SEEN}, {ORDERS: UnreachableError("away")}, START)

    assert sink.kept == []


async def test_a_log_that_cannot_be_written_is_an_event() -> None:
    """The cycle goes on: what was decided is done."""
    events = RecordingEvents()

    held = {ORDERS: VersionedState()}
    await recorder(Sink(fault=UnreachableError("disk full")), events).record({ORDERS: SEEN}, held, START)

    (event,) = events.told
    assert "disk full" in event.message


async def test_nothing_that_acts_waits_for_the_record(world: Scenario) -> None:
    """It comes after the decisions are carried out and kept: a slow log holds up nothing but itself."""
    done: list[tuple[object, ...]] = []

    @dataclass(slots=True)
    class Asking:
        def append_circumstances(self, _: Sequence[Circumstances], /) -> None:
            done.append((list(world.engine.requests), len(world.log.decisions)))

    world.factors = {"agg": 4.0}
    await world.observer.observe(at(0))
    interval = timedelta(seconds=10)
    keeping = Recorder(
        sink=Asking(), events=world.events, collect_interval=interval, restarts=Restarts(), mode=Mode.ACT
    )
    await replace(world.cycle(), recorder=keeping).run(world.observer.latest, at(0))

    assert done == [([{"agg": 4}], 1)]
