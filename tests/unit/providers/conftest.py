"""A directory with a configuration, and a Flink and a Java that cost nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from headgate.providers.folder import end_workers
from headgate.providers.local import FOLDER
from headgate.testing.fake_java import make_flink, make_java


@pytest.fixture
def parameters(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """Give those of a provider of local processes; its workers end with the test."""
    directory = tmp_path / "cluster"
    (directory / "conf").mkdir(parents=True)
    (directory / "conf" / "config.yaml").write_text("rest.port: 1\n")
    java, flink = make_java(tmp_path / "java"), make_flink(tmp_path / "flink")
    yield {"directory": str(directory), "java": str(java), "home": str(flink)}
    end_workers(directory / FOLDER)
