"""What Prometheus has scraped of all jobs of a cluster, sorted by job, vertex, subtask and attempt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headgate.engines.prometheus.queries import COUNTERS, Quantity
from headgate.engines.prometheus.server import Series
from headgate.model.identity import VertexId

Samples = Mapping[float, float]
"""Values by the second that they were scraped at."""


@dataclass(slots=True)
class Attempt:
    """One attempt to run a subtask; another one counts from zero."""

    id: str
    number: int
    _samples: dict[tuple[Quantity, str], dict[float, float]] = field(default_factory=dict)
    """By quantity and operator: a chain of several sources counts several times."""

    def add(self, quantity: Quantity, operator: str, samples: Samples) -> None:
        """Take a series; two of the same thing, as replicas of a Prometheus have them, complete each other."""
        self._samples.setdefault((quantity, operator), {}).update(samples)

    def times(self) -> list[float]:
        """Give the scrapes at which all of its counters are known, the latest last."""
        counters = [samples.keys() for (quantity, _), samples in self._samples.items() if quantity in COUNTERS]
        return sorted(set.intersection(*map(set, counters))) if counters else []

    def at(self, at_s: float) -> dict[Quantity, float]:
        """Give what is known of it at a scrape; of what is no counter, what was known last."""
        found: dict[Quantity, float] = {}
        for (quantity, _), samples in self._samples.items():
            value = samples.get(at_s) if quantity in COUNTERS else _last(samples)
            if value is not None:
                found[quantity] = found.get(quantity, 0.0) + value
        return found


Subtasks = Mapping[int, Mapping[str, Attempt]]
"""The attempts of each subtask, also those that have ended since."""


class Scrapes:
    """What one round of queries has found."""

    def __init__(self, found: Mapping[Quantity, Iterable[Series]]) -> None:
        """Sort the series; what does not say of which subtask it is stays out."""
        self._vertices: dict[tuple[str, VertexId], dict[int, dict[str, Attempt]]] = {}
        self._jobs: set[str] = set()
        for quantity, series in found.items():
            for each in series:
                self._add(quantity, each)

    def knows(self, job_id: str) -> bool:
        """Tell whether there is anything of a job."""
        return job_id in self._jobs

    def of(self, job_id: str, vertex: VertexId) -> Subtasks:
        """Give the subtasks of a vertex; nothing where none was scraped."""
        return self._vertices.get((job_id, vertex), {})

    def _add(self, quantity: Quantity, series: Series) -> None:
        labels = series.labels
        job_id, vertex, index = labels.get("job_id"), labels.get("task_id"), labels.get("subtask_index", "")
        if not job_id or not vertex or not index.isdecimal() or not series.samples:
            return
        self._jobs.add(job_id)
        attempts = self._vertices.setdefault((job_id, VertexId(vertex)), {}).setdefault(int(index), {})
        number = labels.get("task_attempt_num", "0")
        attempt_id = labels.get("task_attempt_id", number)
        attempt = attempts.setdefault(attempt_id, Attempt(attempt_id, int(number) if number.isdecimal() else 0))
        attempt.add(quantity, labels.get("operator_id", ""), series.samples)


def _last(samples: Samples) -> float | None:
    return samples[max(samples)] if samples else None
