"""Which streaming queries the driver has, by the names that tell their runs apart."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from headgate.engines.spark.attached.jvm import JvmGateway


class JavaQuery:
    """An active query of the driver."""

    def __init__(self, name: str, run_id: str) -> None:
        """Run."""
        self.active = True
        self.name = lambda: name
        self.id = lambda: SimpleNamespace(toString=lambda: f"id of {run_id}")
        self.runId = lambda: SimpleNamespace(toString=lambda: run_id)
        self.isActive = lambda: self.active
        self.exception = lambda: SimpleNamespace(isDefined=lambda: False)
        self.status = lambda: SimpleNamespace(isTriggerActive=lambda: True, message=lambda: "")
        self.streamingQuery = lambda: SimpleNamespace(getLatestExecutionContext=lambda: None)


class Driver:
    """A driver with queries of two sessions; `between` happens in between the lists of all and of the own ones."""

    def __init__(self) -> None:
        """Have none."""
        self.own: list[JavaQuery] = []
        self.others: list[JavaQuery] = []
        self.between: Callable[[], None] = lambda: None
        java = SimpleNamespace(
            streams=lambda: SimpleNamespace(active=lambda: self._listed(self.own)),
            sharedState=lambda: SimpleNamespace(
                activeStreamingQueries=lambda: SimpleNamespace(values=lambda: self._listed(self.own + self.others))
            ),
        )
        context = SimpleNamespace(
            _jsc=SimpleNamespace(sc=lambda: None),
            _jvm=SimpleNamespace(java=SimpleNamespace(util=SimpleNamespace(Arrays=None))),
        )
        session: Any = SimpleNamespace(sparkContext=context, _jsparkSession=java)
        self.gateway = JvmGateway(session)

    def _listed(self, queries: list[JavaQuery]) -> list[JavaQuery]:
        listed = [*queries]
        happens, self.between = self.between, lambda: None
        happens()
        return listed

    @property
    def seen(self) -> dict[str, tuple[str, bool]]:
        """Give the vertex's name of each run, and whether it is foreign."""
        return {one.run_id: (one.query, one.foreign) for one in self.gateway.queries()}


def test_an_own_query_that_starts_during_a_look_is_no_foreign_one() -> None:
    """Neither then nor later: the listener tells of it."""
    driver, query = Driver(), JavaQuery("orders", "run-1")
    driver.between = lambda: driver.own.append(query)
    for _ in range(2):
        assert driver.seen in ({}, {"run-1": ("orders", False)})
    assert driver.seen == {"run-1": ("orders", False)}


def test_an_own_query_that_ends_during_a_look_is_no_foreign_one() -> None:
    """And the run that takes its place has its name."""
    driver = Driver()
    first, second = JavaQuery("orders", "run-1"), JavaQuery("orders", "run-2")
    driver.own = [first]

    def restart() -> None:
        first.active, driver.own = False, [second]

    driver.between = restart
    assert driver.seen == {"run-2": ("orders", False)}


def test_a_name_is_one_runs_alone() -> None:
    """Names are unique within a session only: whoever comes later goes by the id, be it an own query."""
    driver = Driver()
    driver.others = [JavaQuery("orders", "run-1")]
    assert driver.seen == {"run-1": ("orders", True)}
    driver.own = [JavaQuery("orders", "run-2")]
    assert driver.seen == {"run-1": ("orders", True), "run-2": ("id of run-2", False)}
