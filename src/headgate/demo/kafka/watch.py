"""Watches the job through Flink's REST interface, on its own: nothing of what Headgate collects is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from headgate.demo.kafka.draw import SINK, SOURCE, WORK
from headgate.demo.kafka.topics import PARTITIONS, Writer
from headgate.demo.timeline import Observation
from headgate.engines.flink.local.loopback import call_json

_NAMES = {"Source: source": SOURCE, "work": WORK, "sink: Writer -> sink: Committer": SINK}
_OFFSET = "Source__source.KafkaSourceReader.topic.in.partition.{}.currentOffset"
_COMPARED_LOOKS = 4


class KafkaWatcher:
    """Looks at the job; what waits is what was written and not passed on by its source yet."""

    def __init__(self, url: str, job_id: str, writer: Writer, *, ask: Callable[[str], Any] = call_json) -> None:
        """Look at nothing yet; `ask` makes a GET request and raises `OSError` where there is no answer."""
        self._job = f"{url}/jobs/{job_id}"
        self._writer = writer
        self._ask = ask
        self._passed: dict[str, float] = {}
        self._looks: deque[tuple[datetime, float]] = deque(maxlen=_COMPARED_LOOKS)

    def look(self, now: datetime, epoch: datetime) -> Observation | None:
        """Return what is seen now; none if Flink does not answer, or knows no task yet."""
        try:
            answer = self._ask(self._job)
            tasks = answer["vertices"]
            if not tasks:
                return None
            self._look_at_source(tasks)
        except OSError:
            return None
        passed = sum(self._passed.values())
        self._looks.append((now, passed))
        return Observation(
            at_s=(now - epoch).total_seconds(),
            parallelism={_NAMES.get(task["name"], task["name"]): task["parallelism"] for task in tasks},
            running=answer["state"] == "RUNNING" and all(task["status"] == "RUNNING" for task in tasks),
            wanted_per_s=self._writer.per_s,
            processed_per_s=self._per_s(),
            lag_records=max(0.0, self._writer.written - passed),
            busy={},
        )

    def _look_at_source(self, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Note the furthest position of each partition; after a restart the first ones are told anew."""
        source = next(task["id"] for task in tasks if _NAMES.get(task["name"]) == SOURCE)
        names = ",".join(_OFFSET.format(number) for number in range(PARTITIONS))
        for each in self._ask(f"{self._job}/vertices/{source}/subtasks/metrics?agg=max&get={names}"):
            self._passed[each["id"]] = max(float(each["max"]) + 1, self._passed.get(each["id"], 0.0))

    def _per_s(self) -> float:
        (before_at, before), (now, passed) = self._looks[0], self._looks[-1]
        elapsed_s = (now - before_at).total_seconds()
        return (passed - before) / elapsed_s if elapsed_s > 0 else 0.0
