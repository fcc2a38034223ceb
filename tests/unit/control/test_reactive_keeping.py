"""Workers that somebody else asks for are kept: the first ones come, and those that die are replaced."""

from __future__ import annotations

from datetime import timedelta

from headgate.control.reactive.keeping import KeptCluster
from headgate.control.reactive.steering import Steering
from headgate.errors import UnreachableError
from headgate.model.events import EventReason
from headgate.options.reactive import WorkersOptions
from headgate.options.service import Mode
from headgate.testing.builders import at
from headgate.testing.fakes import RecordingEvents
from headgate.testing.reacting import FakeProvider

BOUNDS = WorkersOptions(provider="fake", least=1, most=3)
LIMIT = timedelta(seconds=5)


async def kept(provider: FakeProvider) -> RecordingEvents:
    """Keep the workers of a cluster once, and give what was told."""
    events = RecordingEvents()
    cluster = KeptCluster(name="streams", provider=provider, options=BOUNDS)
    await cluster.keep(events, at(0), time_limit=LIMIT)
    return events


async def test_the_first_worker_comes_by_itself() -> None:
    """An application without an executor could never say that it needs one."""
    provider = FakeProvider(wanted=0)
    events = await kept(provider)
    assert provider.wanted == 1
    assert events.reasons == [EventReason.WORKERS_REQUESTED]


async def test_what_was_asked_for_last_stays() -> None:
    """Whoever asked; that is no news."""
    provider = FakeProvider(wanted=2)
    events = await kept(provider)
    assert provider.wanted == 2
    assert events.reasons == []


async def test_no_more_than_the_bounds_allow() -> None:
    """Also when they were changed since."""
    provider = FakeProvider(wanted=9)
    await kept(provider)
    assert provider.wanted == 3


async def test_while_all_jobs_are_paused_the_bounds_do_not_count() -> None:
    """A kill switch starts no worker, and ends none."""
    for wanted in (0, 9):
        provider = FakeProvider(wanted=wanted)
        steering = Steering(
            events=RecordingEvents(), kept=[KeptCluster(name="streams", provider=provider, options=BOUNDS)]
        )
        steering.begin({}, at(0), are_all_paused=True)
        await steering.steer({}, [], (), at(0))
        assert provider.requests == [wanted]


async def test_a_provider_that_fails_is_an_event() -> None:
    """And nothing else of the cycle suffers."""
    provider = FakeProvider(wanted=2)
    provider.fault = UnreachableError("the directory cannot be read")
    events = await kept(provider)
    assert events.reasons == [EventReason.WORKERS_FAILED]


async def test_only_advising_starts_no_worker() -> None:
    """Nor does a process that the cluster is not the business of."""
    for refusing in ({"mode": Mode.ADVISE}, {"looks_after": lambda _: False}):
        provider = FakeProvider(wanted=0)
        cluster = KeptCluster(name="streams", provider=provider, options=BOUNDS)
        steering = Steering(events=RecordingEvents(), kept=[cluster], **refusing)
        await steering.steer({}, (), (), at(0))
        assert provider.wanted == 0
