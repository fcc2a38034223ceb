"""
Every case of an area becomes a parameter of the test that is named after the area: `test_rate` runs area `rate`.

A module may tell by `runs(case)` which cases do not need a rule that is not built yet; the others are not collected.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from headgate.testing.golden import Case, read_cases

CASES = Path(__file__).with_name("golden_cases.json")


@cache
def _cases() -> tuple[Case, ...]:
    return tuple(read_cases(Path(os.environ.get("HEADGATE_GOLDEN_CASES", CASES))))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test the cases of its area."""
    if "case" not in metafunc.fixturenames:
        return
    runs: Callable[[Case], bool] = getattr(metafunc.module, "runs", lambda _: True)
    area = metafunc.function.__name__.removeprefix("test_")
    chosen = [case for case in _cases() if case.area == area and runs(case)]
    metafunc.parametrize("case", chosen, ids=[case.id for case in chosen])
