"""One Kafka cluster as jobs see it: where their topics end, asked for all of them at once and seldom."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from headgate.errors import HeadgateError, UnreachableError
from headgate.kafka.admin import KafkaAdmin
from headgate.kafka.asking import Asking, Partition
from headgate.kafka.history import History, Look
from headgate.model.identity import JobKey
from headgate.model.pattern import fits
from headgate.options.kafka import KafkaClusterOptions
from headgate.ports import Missing

_LINGER_S = 0.02
"""How long the first who asks waits for others: the jobs of a tick ask within milliseconds."""
_PATIENCE_S = 1.0
"""How long a job waits for brokers at least; what comes later counts for its next look."""
_ANOTHER_TICK = timedelta(milliseconds=500)
"""How far apart two who wait in vain do not do so at the same tick."""
_USUAL = 3
"""Times that the latest answer took, for which the next one is waited for."""
_LISTED = timedelta(seconds=30)
"""How long the list of topics and partitions is believed: of a large cluster it is long."""
_LISTED_ANEW = timedelta(seconds=5)
"""How soon it is asked for again where a topic is missing in it."""
_RECOVERS = timedelta(seconds=10)
"""How long brokers that answer again may say of some partitions that they do not know them."""
_FORGET = timedelta(minutes=10)
"""A topic that nobody has asked about for so long is not asked about any more: its job is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The partitions of the topics that metrics call by these names."""

    at: datetime
    partitions: Mapping[str, Sequence[Partition]]

    def holds(self, names: Collection[str], now: datetime) -> bool:
        """Tell whether it will do for these names."""
        age, known = now - self.at, [self.partitions.get(name) for name in names]
        return None not in known and age < (_LISTED if all(known) else _LISTED_ANEW)


class LateError(UnreachableError):
    """Brokers that have answered until now take longer this time; that alone is no sign that they are away."""


class KafkaCluster:
    """Asks brokers in the background, one question at a time, and remembers what they said."""

    def __init__(self, options: KafkaClusterOptions, *, clock: Callable[[], datetime], patient: bool = False) -> None:
        """
        Ask nothing yet. Who is patient waits for as long as an answer may take.

        Raises:
            ConfigError: the driver is not installed.
        """
        self.options = options
        self.history = History()
        self._admin = KafkaAdmin(f"Kafka cluster {options.name}", options)
        self._clock = clock
        self._wanted: dict[str, datetime] = {}
        self._listing: Listing | None = None
        self._asking: asyncio.Task[None] | None = None
        self._failed: tuple[datetime, HeadgateError] | None = None
        self._took = timedelta()
        self._patient = patient
        self._late_at: datetime | None = None
        """When nobody had answered in time, if nobody has since."""

    def serves(self, job: JobKey) -> bool:
        """Tell whether a job reads it."""
        return fits(str(job), self.options.match)

    async def look(self, names: Collection[str]) -> Look:
        """
        Give a fresh look at the topics that metrics call so; a little old is fresh enough while the brokers are slow.

        Raises:
            LateError: there was no answer in time, for the first time.
            RefusedError: a secret is not there.
            UnreachableError: the brokers do not answer.
        """
        self._wanted |= dict.fromkeys(names, self._clock())
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience_s):
                for _ in range(2):  # the question that is under way may not be about these
                    if self._failure is None and not self._is_known(names, self.options.refresh):
                        await self._asked()
        latest = self.history.latest
        if latest is not None and self._is_known(names, max(3 * self.options.refresh, 2 * self._took)):
            self._late_at = None
            return latest
        if self._failed is not None and (latest is None or latest.at < self._failed[0]):
            raise self._failed[1]
        message = f"Kafka cluster {self.options.name}: there was no answer in time"
        if self._is_late_again(latest):
            raise UnreachableError(message)
        raise LateError(message)

    async def begins(self, names: Collection[str]) -> Mapping[str, Mapping[Partition, int | Missing]]:
        """
        Ask where the partitions of topics begin that were looked at before.

        Raises:
            RefusedError: a secret is not there.
            UnreachableError: the brokers do not answer.
        """
        latest = self.history.latest
        known = {name: latest.partitions.get(name, ()) for name in names} if latest else {}
        asked = [one for partitions in known.values() for one in partitions]
        found = await self._admin.ask(lambda asking: asking.begins(asked))
        return {name: {one: found[one] for one in partitions} for name, partitions in known.items()}

    async def close(self) -> None:
        """Give up what is being asked, and let go of the client."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
        self._admin.close()

    def _is_late_again(self, latest: Look | None) -> bool:
        """Note that there was no answer in time, and tell whether there was none at a tick before, nor since."""
        now, before = self._clock(), self._late_at
        if before is None or (latest is not None and latest.at >= before):
            self._late_at = now
            return False
        return now - before >= _ANOTHER_TICK

    @property
    def recovers(self) -> bool:
        """Whether it has failed a short time ago."""
        return self._failed is not None and self._clock() - self._failed[0] < _RECOVERS

    @property
    def _patience_s(self) -> float:
        limit = self.options.timeout
        if self._patient:
            return limit.total_seconds() + 1
        return max(_PATIENCE_S, min(_USUAL * self._took, limit).total_seconds())

    @property
    def _failure(self) -> HeadgateError | None:
        """The latest failure, as long as it need not be tried again."""
        if self._failed is None or self._clock() - self._failed[0] >= self.options.refresh:
            return None
        latest = self.history.latest
        return self._failed[1] if latest is None or latest.at < self._failed[0] else None

    def _is_known(self, names: Collection[str], within: timedelta) -> bool:
        latest = self.history.latest
        return latest is not None and self._clock() - latest.at < within and latest.partitions.keys() >= set(names)

    async def _asked(self) -> None:
        """Wait for the question under way, or ask one; whoever is cancelled meanwhile takes nothing from the others."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        await asyncio.shield(self._asking)

    async def _ask(self) -> None:
        await asyncio.sleep(_LINGER_S)
        now = self._clock()
        self._wanted = {name: when for name, when in self._wanted.items() if now - when < _FORGET}
        try:
            look = await self._admin.ask(partial(self._ends, frozenset(self._wanted)))
        except HeadgateError as error:
            self._failed = (self._clock(), error)
        except Exception as error:  # noqa: BLE001 - whatever it is, no job is to go without its sample for it
            failure = UnreachableError(f"Kafka cluster {self.options.name}: {type(error).__name__}: {error}")
            self._failed = (self._clock(), failure)
        else:
            self._took = self._clock() - now
            # They were true between question and answer.
            self.history.add(replace(look, at=now + self._took / 2))

    def _ends(self, names: Collection[str], asking: Asking) -> Look:
        now, listing = self._clock(), self._listing
        if listing is None or not listing.holds(names, now):
            listing = self._listing = Listing(at=now, partitions=resolved(names, asking.partitions()))
        found = {name: listing.partitions[name] for name in names}
        asked = [one for partitions in found.values() for one in partitions]
        return Look(at=now, partitions=found, ends=asking.ends(asked))


def resolved(names: Collection[str], known: Mapping[str, Sequence[Partition]]) -> Mapping[str, Sequence[Partition]]:
    """
    Give the partitions of the topics that metrics call so; those of several topics where more than one may be meant.

    Flink's metrics have an underscore for each dot in a topic's name.
    """
    found: dict[str, list[Partition]] = {name: [] for name in names}
    for topic, partitions in known.items():
        name = topic.replace(".", "_")
        if name in found:
            found[name] += partitions
    return found
