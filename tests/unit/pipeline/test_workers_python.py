"""Which Python Spark's workers run."""

from __future__ import annotations

import sys

import pytest

from headgate.pipeline.session import workers_python

NAMED = {"spark.pyspark.python": "/opt/worker/bin/python"}


def test_on_this_machine_it_is_this_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only one that surely has everything, whatever the environment says."""
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3")
    assert workers_python({}, local=True) == sys.executable


def test_elsewhere_it_is_what_spark_would_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """This interpreter's path means nothing on other machines."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert workers_python({}, local=False) == "python3"
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3.12")
    assert workers_python({}, local=False) == "/usr/bin/python3.12"


@pytest.mark.parametrize("local", [True, False])
def test_the_operators_own_wins(monkeypatch: pytest.MonkeyPatch, *, local: bool) -> None:
    """By Spark's own name for it."""
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3")
    assert workers_python(NAMED, local=local) == NAMED["spark.pyspark.python"]
