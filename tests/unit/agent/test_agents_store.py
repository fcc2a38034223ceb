"""Where an agent's state is kept."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from headgate.agent.remembering import open_state_store
from headgate.errors import ConfigError
from headgate.model.state import JobState
from headgate.testing.builders import ORDERS


def test_a_database_outlives_the_driver(tmp_path: Path) -> None:
    """What one start of the application remembered the next one knows; memory forgets it."""
    url, state = f"sqlite:///{tmp_path}/agent.db", JobState()
    for reference, remembered in ((url, 1), ("memory", 0)):
        with ExitStack() as opened:
            open_state_store(reference, opened).save(ORDERS, state, 0)
        with ExitStack() as opened:
            assert open_state_store(reference, opened).load(ORDERS).version == remembered


def test_a_secret_that_is_not_there_is_a_fault_of_the_options() -> None:
    """With the option's name, and without the URL."""
    with ExitStack() as opened, pytest.raises(ConfigError, match=r"state-store: .*NO_SUCH_PASSWORD"):
        open_state_store("postgresql://me:${env:NO_SUCH_PASSWORD}@host/db", opened)
