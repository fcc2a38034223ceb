"""A scheduler backend without Spark: executors are numbered, come a second apart, and requests are noted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headgate.engines.spark.attached.backend import Executor, Standing

START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeBackend:
    """
    An `engines.spark.attached.backend.Backend`.

    Attributes:
        settings: of the application.
        requests: what was asked for, such as `total 3`.
        running: running tasks by executor.
        in_batch: whether a streaming query is in a batch.
        failure: what every call raises instead of an answer.
    """

    def __init__(self, *, executors: int, cores: int = 1) -> None:
        """Have so many executors with so many cores each."""
        self.settings = {"spark.decommission.enabled": "true"}
        self.requests: list[str] = []
        self.running: dict[str, int] = {}
        self.in_batch = False
        self.failure: Exception | None = None
        self._cores = cores
        self._seconds = self._started = 0
        self._executors: dict[str, datetime] = {}
        self._leaving: set[str] = set()
        self._lost_at: datetime | None = None
        for _ in range(executors):
            self.add()

    @property
    def started_at(self) -> datetime:
        """Since when the application runs."""
        return START

    def setting(self, key: str, default: str) -> str:
        """Give a setting."""
        return self.settings.get(key, default)

    def look(self) -> Standing:
        """List the executors."""
        if self.failure is not None:
            raise self.failure
        return Standing(executors=tuple(self._executor(name) for name in self._executors), lost_at=self._lost_at)

    def request_total(self, count: int) -> None:
        """Note it."""
        self.requests.append(f"total {count}")

    def decommission(self, executor: str) -> bool:
        """Note it, unless it was told before."""
        if executor in self._leaving:
            return False
        self.requests.append(f"decommission {executor}")
        self._leaving.add(executor)
        return True

    def kill(self, executor: str) -> bool:
        """Note it, and end the executor."""
        self.requests.append(f"kill {executor}")
        self.lose(executor)
        return True

    def is_between_batches(self) -> bool:
        """Tell whether no query is in a batch."""
        return not self.in_batch

    def release(self) -> None:
        """Note it."""
        self.requests.append("release")

    def add(self) -> None:
        """Let one more come."""
        self._executors[str(self._started)] = self._pass_time()
        self._started += 1

    def lose(self, executor: str) -> None:
        """Let one go, whether it was asked to or not."""
        del self._executors[executor]
        self._lost_at = self._pass_time()

    def _executor(self, name: str) -> Executor:
        return Executor(
            id=name,
            cores=self._cores,
            running_tasks=self.running.get(name, 0),
            added_at=self._executors[name],
            leaving=name in self._leaving,
        )

    def _pass_time(self) -> datetime:
        self._seconds += 1
        return START + timedelta(seconds=self._seconds)
