"""
Every case of an area becomes parameters of the test that is named after the area: `test_rate` runs area `rate`.

Each case is run twice. By the reference's rules (`1.16.0`) it must give what the reference gave. By Headgate's
(`current`) it must too, unless a documented deviation names it: then it must differ, and be the reference's again with
that deviation switched off. The area `alignment_later_fix` contradicts the reference on purpose and is run by
Headgate's rules only.

In another file (`HEADGATE_GOLDEN_CASES`) there may be cases that no list knows. Those must give what the reference gave
without the deviations that play a part in their area; with them they may differ.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml

from headgate.options.deviations import Deviation, Parity
from headgate.testing.golden import Case, read_cases

CASES = (Path(__file__).with_name("golden_cases.json"), Path(__file__).with_name("more_cases.json"))
"""What the reference gave for an input, and what its rules give by its own tests or by reading them."""
DEVIATIONS = Path(__file__).with_name("deviations.yaml")
LATER_FIX = "alignment_later_fix"


@cache
def _cases() -> tuple[Case, ...]:
    given = os.environ.get("HEADGATE_GOLDEN_CASES")
    return tuple(case for path in ([Path(given)] if given else CASES) for case in read_cases(path))


@cache
def _deviating(part: str) -> Mapping[str, tuple[Deviation, ...]]:
    """Give the deviations of each area (`areas`) or of each recorded case (`cases`), by its name."""
    named: dict[str, tuple[Deviation, ...]] = {}
    for deviation, told in yaml.safe_load(DEVIATIONS.read_text(encoding="utf-8")).items():
        for name in told[part]:
            named[name] = (*named.get(name, ()), Deviation(deviation))
    return named


@cache
def _recorded() -> frozenset[str]:
    return frozenset(case.id for path in CASES for case in read_cases(path))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test the cases of its area."""
    if "case" not in metafunc.fixturenames:
        return
    area = metafunc.function.__name__.removeprefix("test_")
    parameters = [parameter for case in _cases() if case.area == area for parameter in _parameters(case)]
    metafunc.parametrize("case", parameters)


def _parameters(case: Case) -> Iterator[object]:
    if case.area != LATER_FIX:
        yield pytest.param(replace(case, parity=Parity.REFERENCE), id=f"{Parity.REFERENCE}-{case.id}")
    is_known = case.id in _recorded()
    deviations = _deviating("cases").get(case.id, ()) if is_known else _deviating("areas").get(case.area, ())
    if not deviations:
        yield pytest.param(case, id=f"{Parity.CURRENT}-{case.id}")
        return
    differs = pytest.mark.xfail(strict=is_known, raises=AssertionError, reason=f"deviates: {', '.join(deviations)}")
    yield pytest.param(case, id=f"{Parity.CURRENT}-{case.id}", marks=differs)
    yield pytest.param(replace(case, deviations_off=deviations), id=f"without-{'-'.join(deviations)}-{case.id}")
