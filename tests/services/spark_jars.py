"""What Spark needs to read from Kafka and from object stores, from the jars that `make services` fetches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from headgate.engines.flink.local.cache import cache_root

_KINDS = ("spark-kafka", "spark-s3a")


def settings() -> Mapping[str, str]:
    """Give settings with which a Spark session has them; none where they are not here."""
    jars = [jar for kind in _KINDS for jar in _jars(kind)]
    return {"spark.jars": ",".join(map(str, jars))} if jars else {}


def need(kind: str) -> None:
    """Skip where the jars of a kind are not here."""
    if not _jars(kind):
        pytest.skip(f"the jars {kind} are not here: make services")


def _jars(kind: str) -> list[Path]:
    folders = sorted(cache_root().glob(f"{kind}-*"))
    return sorted(folders[-1].glob("*.jar")) if folders else []
