"""What an option expects, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest
from annotated_types import Ge, Gt, Interval

from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.expectation import expected
from headgate.options.service import JobOptions, Mode
from headgate.options.units import MemorySize


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (bool, "true or false"),
        (str, "text"),
        (Path | None, "a path"),
        (Mode, "one of advise, act"),
        (timedelta, "a duration"),
        (Annotated[timedelta, Gt(timedelta())], "a duration, above 0 s"),
        (Annotated[int, Ge(1)], "a whole number, at least 1"),
        (Annotated[float, Interval(gt=0, le=1)] | None, "a number, above 0, at most 1"),
        (tuple[str, ...], "a list of texts"),
        (tuple[JobOptions, ...], "a list of sections"),
        (tuple[Mode, ...], "a list out of advise, act"),
        (Annotated[MemorySize, Gt(0)] | None, "a memory size, above 0"),
        (Mapping[str, str], "a section of names and texts"),
        (AutoscalerOptions, "a section"),
    ],
)
def test_every_kind_of_option_can_be_put_in_words(annotation: Any, words: str) -> None:
    """Type and range, in the words that faults and the reference page use."""
    assert expected(annotation) == words
