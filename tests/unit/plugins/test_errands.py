"""What waits for slow plugins: one call a job, whatever number of cycles wants one."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any

from headgate.model.identity import JobKey
from headgate.plugins.errands import Errands

ORDERS, SALES = JobKey("prod", "orders"), JobKey("prod", "sales")


class Waiting(Executor):
    """Runs what was submitted when it is told to."""

    def __init__(self) -> None:
        """Have nothing to run."""
        self.submitted: list[Any] = []

    def submit(self, call: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        """Keep it."""
        self.submitted.append(lambda: call(*arguments))
        return Future()


def test_a_job_that_waits_keeps_its_one_place() -> None:
    """The latest question is the one that is asked; one that nobody waits for any more is not."""
    pool, errands = Waiting(), Errands()
    first = errands.begin(pool, ORDERS, lambda: "first")
    second = errands.begin(pool, ORDERS, lambda: "second")
    given_up = errands.begin(pool, SALES, lambda: "sales")
    assert first
    assert second
    assert given_up
    assert given_up.cancel()
    assert len(pool.submitted) == 2
    for run in pool.submitted:
        run()
    assert second.result() == "second"
    assert not first.done()


def test_a_job_that_is_asked_for_is_not_asked_for_again() -> None:
    """Not before its answer is there; a failure is an answer."""
    pool, errands = Waiting(), Errands()

    def asked() -> None:
        assert errands.begin(pool, ORDERS, lambda: None) is None
        raise KeyError(ORDERS)

    begun = errands.begin(pool, ORDERS, asked)
    pool.submitted.pop()()
    assert begun
    assert isinstance(begun.exception(), KeyError)
    assert errands.begin(pool, ORDERS, lambda: None)
