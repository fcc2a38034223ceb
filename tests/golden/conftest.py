"""
Every case of an area becomes parameters of the test that is named after the area: `test_rate` runs area `rate`.

Each case is run twice. By the reference's rules (`1.16.0`) it must give what the reference gave. By Headgate's
(`current`) it must too, unless a documented deviation names it: then it must differ, and be the reference's again with
that deviation switched off.

The cases were recorded before release 1.16.0. Since then a source gets no more than its partitions (FLINK-40389):
what alignment gave beyond is replaced by that, which the area `alignment_later_fix` has for some.

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

from headgate.algorithm.alignment import AlignmentMode
from headgate.options.deviations import Deviation, Parity
from headgate.testing.golden import Case, read_cases

CASES = (Path(__file__).with_name("golden_cases.json"), Path(__file__).with_name("more_cases.json"))
"""What the reference gave for an input, and what its rules give by its own tests or by reading them."""
ALIGNED = ("alignment", "parallelism_for_factor")
"""Areas whose answers come from alignment."""
DEVIATIONS = Path(__file__).with_name("deviations.yaml")


@cache
def _cases() -> tuple[Case, ...]:
    given = os.environ.get("HEADGATE_GOLDEN_CASES")
    return tuple(_released(case) for path in ([Path(given)] if given else CASES) for case in read_cases(path))


def _released(case: Case) -> Case:
    """Return the case as release 1.16.0 answers it: by its alignment no source gets more than its partitions."""
    partitions, answer = case.inputs.get("num_source_partitions"), case.expected.get("parallelism")
    if case.area not in ALIGNED or not partitions or answer is None:
        return case
    is_off = AlignmentMode.OFF in {case.inputs.get("mode"), case.options.alignment_mode}
    most = min(partitions, case.inputs["max_parallelism"], case.inputs["upper_limit"])
    if is_off or answer <= most:
        return case
    told = case.expected.get("scaling_limited_event")
    event = {"scaling_limited_event": {**told, "actual_parallelism": most}} if told else {}
    return replace(case, expected={**case.expected, **event, "parallelism": most})


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
    yield pytest.param(replace(case, parity=Parity.REFERENCE), id=f"{Parity.REFERENCE}-{case.id}")
    is_known = case.id in _recorded()
    deviations = _deviating("cases").get(case.id, ()) if is_known else _deviating("areas").get(case.area, ())
    if not deviations:
        yield pytest.param(case, id=f"{Parity.CURRENT}-{case.id}")
        return
    differs = pytest.mark.xfail(strict=is_known, raises=AssertionError, reason=f"deviates: {', '.join(deviations)}")
    yield pytest.param(case, id=f"{Parity.CURRENT}-{case.id}", marks=differs)
    yield pytest.param(replace(case, deviations_off=deviations), id=f"without-{'-'.join(deviations)}-{case.id}")
