"""One Spark session for all tests that need it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from tests.services import spark_jars

from headgate.engines.flink.local.java import find_java
from headgate.pipeline.session import open_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Give a session on two local cores."""
    session = open_session("local[2]", java_home=find_java().home, settings=spark_jars.settings())
    yield session
    session.stop()
