"""Takes samples that were collected elsewhere into the log, each once, however often they come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from headgate.errors import PermanentError, RefusedError
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.samplelog import parquet
from headgate.samplelog.files import Address
from headgate.samplelog.layout import instant, shard_of
from headgate.samplelog.messages import read_message
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog

_EVER = datetime.max.replace(tzinfo=UTC)
_AHEAD = timedelta(minutes=5)
"""By how much two clocks may differ. From a job whose clock was ahead by a year, nothing would count for a year."""


class Receiver:
    """
    Appends batches of messages to a log, and knows the newest sample of each job.

    The messages of a job come in the order of its ticks, so one that is not newer than all before it has been here
    already. Batches come one at a time; the samples may be asked for by other threads meanwhile.
    """

    def __init__(
        self,
        log: Address,
        *,
        refused: Callable[[str], None] = lambda _: None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """
        Know nothing yet.

        Args:
            log: root of the samples log.
            refused: is told of messages that cannot be taken; the others of their batch count.
            clock: tells the present, beyond which there are no samples.
        """
        self._root = log
        self._log = SampleLog(log)
        self._reader = LogReader(log)
        self._refused = refused
        self._clock = clock
        self._ticks: dict[JobKey, datetime] = {}
        self._since = _EVER
        self._newest: dict[JobKey, JobSample] = {}

    def newest(self, job: JobKey) -> JobSample | None:
        """Give the newest sample of a job that has come since the start; it is in the log."""
        return self._newest.get(job)

    def forget(self, job: JobKey) -> None:
        """Drop the sample of a job that is gone."""
        self._newest.pop(job, None)

    def take(self, messages: Iterable[bytes], *, shard: str) -> None:
        """
        Append a batch, durably when it returns. One that is taken again after a failure or a restart replaces itself.

        Args:
            messages: in any order.
            shard: names the batch among all that there have ever been, by lower-case letters and digits.

        Raises:
            UnreachableError: the log could not be read or written; the batch is to be taken again.
        """
        samples = sorted(self._read(messages), key=lambda sample: sample.at)
        if not samples:
            return
        self._recall(samples[0].at, shard)
        fresh = _fresh(samples, self._ticks)
        log = self._log.under(shard)
        for tick in _by_tick(fresh).values():
            log.append(tick)
        # Only now: of a batch that fails half-way, nothing counts as having been here.
        for sample in fresh:
            self._ticks[sample.job] = sample.at
            self._newest[sample.job] = sample

    def _read(self, messages: Iterable[bytes]) -> Sequence[JobSample]:
        samples, faults, until = [], [], self._clock() + _AHEAD
        for message in messages:
            try:
                samples.append(_of_past(read_message(message), until))
            except PermanentError as error:
                faults.append(str(error))
        if faults:
            self._refused(f"{len(faults)} messages were left out, the first of them: {faults[0]}")
        return samples

    def _recall(self, since: datetime, shard: str) -> None:
        """Look up in the log which ticks were there before this process, unless it has looked back so far already."""
        if since < self._since:
            self._ticks = {**self._in_log(since, shard), **self._ticks}
            self._since = since

    def _in_log(self, since: datetime, shard: str) -> dict[JobKey, datetime]:
        """Give the newest tick of each job that other batches have brought, of those from `since` on."""
        newest: dict[str, int] = {}
        with parquet.reported(f"the samples log at {self._root} cannot be read"):
            for job, at in self._rows(since, shard):
                newest[job] = max(at, newest.get(job, at))
        return {JobKey.parse(job): instant(at) for job, at in newest.items()}

    def _rows(self, since: datetime, shard: str) -> Iterator[tuple[str, int]]:
        for path in self._reader.files("jobs", since, _EVER):
            if shard_of(path.name) != shard:
                rows = parquet.columns(path, ["job", "at_ms"])
                found = rows.group_by("job").aggregate([("at_ms", "max")])
                yield from zip(found["job"].to_pylist(), found["at_ms_max"].to_pylist(), strict=True)


def _of_past(sample: JobSample, until: datetime) -> JobSample:
    if sample.at > until:
        message = f"a sample of {sample.job} is of {sample.at.isoformat()}. Hint: compare the clocks of both machines"
        raise RefusedError(message)
    return sample


def _fresh(samples: Iterable[JobSample], ticks: Mapping[JobKey, datetime]) -> Sequence[JobSample]:
    known, fresh = dict(ticks), []
    for sample in samples:
        if sample.job not in known or sample.at > known[sample.job]:
            known[sample.job] = sample.at
            fresh.append(sample)
    return fresh


def _by_tick(samples: Iterable[JobSample]) -> Mapping[datetime, list[JobSample]]:
    ticks: dict[datetime, list[JobSample]] = defaultdict(list)
    for sample in samples:
        ticks[sample.at].append(sample)
    return ticks
