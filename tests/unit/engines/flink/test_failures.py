"""Refused and failed calls in Headgate's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headgate.engines.flink.failures import (
    ForbiddenError,
    RetriedError,
    UnauthorizedError,
    failure_of,
    first_error_line,
)
from headgate.errors import HeadgateError, NotFoundError, RefusedError, UnreachableError


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("job_unknown", NotFoundError, "Job 00000000000000000000000000000000 not found"),
        ("job_badid", RefusedError, "could not parse parameters"),
        ("rr_upper_gt_maxparallelism", RefusedError, "exceeds its maximum parallelism 128"),
        ("rr_missing_vertex", RefusedError, "The request is incomplete"),
        ("default_scheduler_put_rr", RefusedError, "The DefaultScheduler does not support"),
        ("rescaling_legacy", RetriedError, "temporarily disabled"),
    ],
)
def test_recorded_failures(name: str, error: type[HeadgateError], text: str, recorded: Callable[[str], Any]) -> None:
    """Flink's own first line stands in the text, its stack trace and class names do not."""
    answer = recorded("errors")[name]
    failure = failure_of(answer["status"], answer["body"], "cluster c: GET /x")
    assert type(failure) is error
    assert text in str(failure)
    assert str(failure).startswith(f"cluster c: GET /x was answered {answer['status']}: ")
    assert "Exception" not in str(failure)
    assert "\n" not in str(failure)


@pytest.mark.parametrize(("status", "error"), [(401, UnauthorizedError), (403, ForbiddenError)])
def test_who_is_not_let_in_is_told_why(status: int, error: type[RefusedError]) -> None:
    """Other credentials help against the one, rights against the other; both are refusals to everybody else."""
    failure = failure_of(status, "no", "call")
    assert type(failure) is error
    assert isinstance(failure, RefusedError)


def test_a_plain_500_is_no_refusal() -> None:
    """It may be over at the next try."""
    assert type(failure_of(500, "boom", "call")) is UnreachableError


@pytest.mark.parametrize("body", ["", "{}", '{"errors": []}', "<html>", '{"errors": null}'])
def test_bodies_without_errors_do_no_harm(body: str) -> None:
    """A proxy answers in its own way."""
    assert first_error_line(body)
