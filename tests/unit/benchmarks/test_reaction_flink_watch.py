"""Reactions on real Flink: how a job is looked at, and how it is asked for other sizes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from benchmarks.reaction_flink_watch import Job

from headgate.errors import UnreachableError
from headgate.rescales.rest import Rest

NAMES = {"source": "Source: source", "parse": "parse", "agg": "agg", "sink": "sink: Writer"}


class FakeRest(Rest):
    """Answers for one job, which takes what it is asked for at once."""

    sizes: dict[str, int]
    status: str
    pending: list[dict[str, Any]]
    away: bool

    def __init__(self) -> None:
        """Let it run, each vertex with one subtask."""
        super().__init__(url="http://fake")
        for name, value in (
            ("sizes", dict.fromkeys(NAMES, 1)),
            ("status", "RUNNING"),
            ("pending", []),
            ("away", False),
        ):
            self.put(name, value)

    def put(self, name: str, value: object) -> None:
        """Change what is answered: the class is frozen."""
        object.__setattr__(self, name, value)

    def get(self, path: str) -> Any:
        """Answer as Flink does."""
        if self.away:
            raise UnreachableError(path)
        if path.endswith("/resource-requirements"):
            return {f"id-{name}": {"parallelism": {"lowerBound": 1, "upperBound": n}} for name, n in self.sizes.items()}
        if "/subtasks/metrics" in path:
            assert path.startswith("/jobs/j/vertices/id-source/")
            return self.pending
        listed = [
            {"id": f"id-{name}", "name": NAMES[name], "status": self.status, "parallelism": size}
            for name, size in reversed(self.sizes.items())
        ]
        return {"state": "RUNNING", "vertices": listed}

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Take other requirements."""
        assert (method, path) == ("PUT", "/jobs/j/resource-requirements")
        self.put("sizes", {name: body[f"id-{name}"]["parallelism"]["upperBound"] for name in NAMES})


@pytest.fixture
def rest() -> FakeRest:
    """Return the cluster."""
    return FakeRest()


def test_vertices_are_told_by_name_whatever_their_order(rest: FakeRest) -> None:
    """Flink decorates the names of source and sink."""
    job = Job(rest, "j")
    job.ask((1, 2, 4, 3))
    job.await_sizes((1, 2, 4, 3))
    look = job.look(datetime.now(UTC))
    assert look.asked == look.ran == (1, 2, 4, 3)
    assert 0 <= look.at_s < 1


def test_while_tasks_start_what_ran_last_is_told(rest: FakeRest) -> None:
    """And what waited last, until the source tells again."""
    rest.put("pending", [{"id": "Source__source.pendingRecords", "sum": 812.0}])
    job = Job(rest, "j")
    assert job.look(datetime.now(UTC)).lag == 812
    rest.put("status", "DEPLOYING")
    rest.put("pending", [])
    job.ask((1, 1, 4, 1))
    look = job.look(datetime.now(UTC))
    assert (look.asked, look.ran, look.runs, look.lag) == ((1, 1, 4, 1), (1, 1, 1, 1), False, 812)


def test_a_cluster_that_does_not_answer_stops_no_clock(rest: FakeRest) -> None:
    """What was known holds."""
    job = Job(rest, "j")
    before = job.look(datetime(2026, 1, 1, tzinfo=UTC))
    rest.put("away", value=True)
    after = job.look(datetime(2026, 1, 1, tzinfo=UTC))
    assert not after.differs(before)
    assert after.at_s >= before.at_s


def test_looks_are_kept_that_differ_and_the_first_and_the_last(rest: FakeRest) -> None:
    """Lags differ all the time: they are kept twice a second at most, and only if they differ by more than a few."""
    job, seen = Job(rest, "j"), []

    def over(looks: list[Any]) -> bool:
        seen.append(len(looks))
        rest.put("pending", [{"sum": float(len(seen))}])
        if len(seen) == 20:
            job.ask((1, 1, 2, 1))
        return len(seen) == 40

    kept = job.follow(datetime.now(UTC), over, poll_s=0.001)
    assert [look.asked[2] for look in kept] == [1, 2, 2]
    assert [look.lag for look in kept] == [0, 20, 39]
