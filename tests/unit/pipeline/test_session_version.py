"""Which PySpark the pipeline works with; nothing is started for it."""

from __future__ import annotations

import pytest

from headgate.errors import UnsupportedError
from headgate.pipeline.session import refuse_old


@pytest.mark.parametrize("version", ["3.5.6", "3.5.0"])
def test_a_pyspark_that_only_agents_can_do_with_is_refused(version: str) -> None:
    """With the one that it takes, and what else can be done."""
    with pytest.raises(UnsupportedError, match=f"needs PySpark 4 or later, this is {version}.*pipeline: in-process"):
        refuse_old(version)


@pytest.mark.parametrize("version", ["4.0.1", "4.3.0", "4.4.0.dev1", "10.0"])
def test_newer_ones_pass(version: str) -> None:
    """From 4.0 on."""
    refuse_old(version)
