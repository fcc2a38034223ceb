"""Replacing an evaluated metric, and the report of a scaling, against the reference's cases."""

from __future__ import annotations

import pytest

from headgate.algorithm.override import merged
from headgate.algorithm.report import Entry, read_entries, two_decimals
from headgate.testing.golden import Case


def test_evaluator_merge(case: Case) -> None:
    """A replaced metric is merged field by field; NaN leaves what is known."""
    known, incoming = case.inputs["actual"], case.inputs["incoming"]

    found = {field: merged(float(known[field]), float(incoming[field])) for field in known}

    assert found == pytest.approx({field: float(value) for field, value in case.expected.items()}, nan_ok=True)


def test_scaling_report(case: Case) -> None:
    """A report names each vertex with its parallelism, capacity and target, and can be read back."""
    written = " ".join(
        str(
            Entry(
                vertex=given["id"],
                before=given["current_parallelism"],
                after=given["new_parallelism"],
                rate=two_decimals(float(given["true_processing_rate"])),
                expected=two_decimals(float(given["expected_processing_rate"])),
                target=two_decimals(float(given["target_data_rate"])),
            )
        )
        for given in case.inputs["vertices"]
    )

    assert [
        {
            "id": entry.vertex,
            "parallelism": [entry.before, entry.after],
            "capacity": [entry.rate, entry.expected],
            "target_rate": entry.target,
        }
        for entry in read_entries(f"{case.inputs['header']} {written}")
    ] == case.expected["parsed"]
