"""What the tests of the doctor share: a sound cluster to make sick."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.testing.examined import Patient, sound_patient


@pytest.fixture
async def patient(tmp_path: Path) -> AsyncIterator[Patient]:
    """Give a sound cluster with one job."""
    async with sound_patient(tmp_path) as sound:
        yield sound
