"""What Py4J says becomes what a control loop can act on, and dynamic allocation is held at one number."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from headgate.engines.spark.attached.backend import translated
from headgate.engines.spark.attached.dynamic_allocation import SteeredBackend
from headgate.errors import HeadgateError, NotFoundError, RefusedError, UnreachableError, UnsupportedError


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (Py4JNetworkError("Answer from Java side is empty"), NotFoundError),
        (ConnectionRefusedError(), NotFoundError),
        (Py4JError("Cannot call methods on a stopped SparkContext."), NotFoundError),
        (Py4JError("Method requestTotalExecutors([3]) does not exist"), RefusedError),
        (Py4JError("An error occurred while calling o1.load. Path file:/data does not exist"), UnreachableError),
        (Py4JError(""), UnreachableError),
        (PySparkException("the scheduler is busy"), UnreachableError),
    ],
)
def test_faults_of_the_jvm_are_told_apart(raised: Exception, expected: type[HeadgateError]) -> None:
    """An application that is gone, a call that this Spark lacks, and what may pass."""
    with pytest.raises(expected), translated():
        raise raised


class Field:
    """A private whole number of a Java object."""

    def __init__(self, value: int) -> None:
        """Hold it."""
        self.value = value

    def setAccessible(self, _open: bool) -> None:  # noqa: FBT001, N802 - Java's
        """Let it be changed."""

    def setInt(self, _owner: object, value: int) -> None:  # noqa: N802 - Java's
        """Change it."""
        self.value = value


class Driver:
    """As much of a session's JVM as dynamic allocation takes."""

    def __init__(self, **settings: str) -> None:
        """Allocate between the bounds that are set."""
        self.fields = {"minNumExecutors": Field(1), "maxNumExecutors": Field(8)}
        self.target: dict[int, int] = {}
        self.requested: list[int] = []
        settings = {key.replace("_", "."): value for key, value in settings.items()}
        manager = SimpleNamespace(
            getClass=lambda: SimpleNamespace(getDeclaredField=self.fields.__getitem__),
            numExecutorsTargetPerResourceProfileId=lambda: SimpleNamespace(put=self.target.__setitem__),
        )
        context = SimpleNamespace(
            conf=lambda: SimpleNamespace(get=settings.get),
            executorAllocationManager=lambda: SimpleNamespace(get=lambda: manager),
            requestTotalExecutors=self._request,
        )
        nothing = SimpleNamespace(**{"Map$": SimpleNamespace(**{"MODULE$": SimpleNamespace(empty=dict)})})
        scala = SimpleNamespace(collection=SimpleNamespace(immutable=nothing))
        python = SimpleNamespace(_jvm=SimpleNamespace(scala=scala), _jsc=SimpleNamespace(sc=lambda: context))
        self.session: Any = SimpleNamespace(sparkContext=python)

    def _request(self, count: int, _local_tasks: int, _hosts: object) -> bool:
        self.requested.append(count)
        return True


def test_dynamic_allocation_is_held_at_one_number() -> None:
    """Both bounds and its target, so that it neither adds nor takes away; then the cluster is asked."""
    driver = Driver()
    SteeredBackend(driver.session).request_total(3)
    assert [field.value for field in driver.fields.values()] == [3, 3]
    assert driver.target == {0: 3}
    assert driver.requested == [3]


def test_released_it_has_the_bounds_of_the_application_again() -> None:
    """As they were given; the target stays until it decides."""
    driver = Driver(spark_dynamicAllocation_minExecutors="2", spark_dynamicAllocation_maxExecutors="4")
    backend = SteeredBackend(driver.session)
    backend.request_total(3)
    backend.release()
    assert [field.value for field in driver.fields.values()] == [2, 4]


@pytest.mark.parametrize("count", [1, 5])
def test_bounds_of_the_application_hold(count: int) -> None:
    """Those that it was started with, whatever was set since."""
    driver = Driver(spark_dynamicAllocation_minExecutors="2", spark_dynamicAllocation_maxExecutors="4")
    backend = SteeredBackend(driver.session)
    backend.request_total(4)
    with pytest.raises(RefusedError, match="minExecutors=2"):
        backend.request_total(count)
    assert driver.requested == [4]


def test_a_spark_that_keeps_its_bounds_elsewhere_is_refused() -> None:
    """With what to set instead."""
    driver = Driver()
    del driver.fields["maxNumExecutors"]
    with pytest.raises(UnsupportedError, match="set it to false"):
        SteeredBackend(driver.session)
