"""Where topics ended at the latest looks, so that it can be told for the instant at which somebody else looked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.kafka.asking import Partition
from headgate.ports import Missing

_KEPT = timedelta(minutes=1)
"""Longer than any engine takes to tell what it has measured."""
_CLOSE = timedelta(seconds=5)
"""How far looks lie apart that are older than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What brokers told at one instant."""

    at: datetime
    partitions: Mapping[str, Sequence[Partition]]
    """Of the topics that were asked about, by the name that was asked for; none of one that is not there."""
    ends: Mapping[Partition, int | Missing]


class History:
    """The looks of the last minute, oldest first."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._looks: list[Look] = []

    def __len__(self) -> int:
        """Count the looks that are kept."""
        return len(self._looks)

    @property
    def latest(self) -> Look | None:
        """The newest look."""
        return self._looks[-1] if self._looks else None

    def add(self, look: Look) -> None:
        """Remember a look, and forget what is too old; of those that are a bit old a few are enough."""
        kept = list[Look]()
        for each in self._looks:
            thin = look.at - each.at > _CLOSE and kept and each.at - kept[-1].at < _CLOSE
            if each.at >= look.at - _KEPT and not thin:
                kept.append(each)
        self._looks = [*kept, look]

    def end_of(self, partition: Partition, at: datetime) -> float | Missing:
        """
        Give where a partition of the latest look ended at an instant, by a straight line between two looks.

        Before the first and after the last of them nothing is made up: it is theirs. Where one of the two does not know
        it is the other one's.
        """
        latest = self._looks[-1].ends.get(partition)
        if latest is None or isinstance(latest, Missing):
            return latest or Missing(why=f"partition {partition[1]} of topic {partition[0]} is gone")
        place = bisect_left(self._looks, at, key=lambda look: look.at)
        before, after = self._looks[max(place - 1, 0)], self._looks[min(place, len(self._looks) - 1)]
        begin, end = _told(before, partition), _told(after, partition)
        if begin is None or end is None or before is after:
            return float(next(known for known in (end, begin, latest) if known is not None))
        return begin + (end - begin) * ((at - before.at) / (after.at - before.at))


def _told(look: Look, partition: Partition) -> int | None:
    end = look.ends.get(partition)
    return None if isinstance(end, Missing) else end
