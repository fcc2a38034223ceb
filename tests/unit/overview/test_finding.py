"""What somebody types, and the job that is meant."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.overview.conftest import Service, decided

from headgate.errors import NotFoundError
from headgate.model.identity import JobKey
from headgate.model.orders import Given
from headgate.options.service import LogOptions, ServiceOptions
from headgate.overview.finding import find_job, known_jobs
from headgate.testing.builders import ORDERS, at

PAYMENTS = JobKey("prod", "payments")
OF_BOTH = (JobKey("prod", "clicks"), JobKey("test", "clicks"))
NESTED = JobKey("prod", "etl/hourly")
KNOWN = (ORDERS, PAYMENTS, *OF_BOTH, NESTED)


@pytest.mark.parametrize(
    ("text", "job"),
    [("prod/orders", ORDERS), ("payments", PAYMENTS), ("test/clicks", OF_BOTH[1]), ("etl/hourly", NESTED)],
    ids=["key", "name", "key of one of two", "name with a slash"],
)
def test_a_job_is_found_by_its_key_or_its_name(text: str, job: JobKey) -> None:
    """The bare name does where only one cluster has it."""
    assert find_job(text, KNOWN) == job


def test_a_name_on_two_clusters_is_none() -> None:
    """Whoever pauses the wrong one would learn of it late, so both are named."""
    with pytest.raises(NotFoundError, match=r"2 jobs are called 'clicks'. Hint: write one of prod/clicks, test/clicks"):
        find_job("clicks", KNOWN)


@pytest.mark.parametrize("text", ["paymets", "prod/paymnts", "Payments"])
def test_a_misspelt_job_is_not_guessed(text: str) -> None:
    """It is suggested; nothing is done to a job that nobody named."""
    with pytest.raises(NotFoundError, match=r"no job is called .* did you mean prod/payments"):
        find_job(text, KNOWN)


def test_what_resembles_nothing_is_answered_by_what_there_is() -> None:
    """The first few of a large fleet, and how many more; and where to look when there are none."""
    many = [JobKey("prod", f"job{number}") for number in range(8)]
    with pytest.raises(NotFoundError, match=r"known are prod/job0, .*prod/job4, and 3 more"):
        find_job("zzz", many)
    with pytest.raises(NotFoundError, match=r"no job is known. Has `headgate run` decided"):
        find_job("zzz", [])


def test_jobs_are_known_from_the_log_and_from_the_store(service: Service) -> None:
    """Those decided on in the last day, and those that somebody has ordered something for."""
    service.decides(decided(0))
    service.decides(decided(90_000, job=PAYMENTS))
    service.store.change_orders(NESTED, lambda orders: replace(orders, pause=Given(at=at(0), by="anna@laptop")))
    options = ServiceOptions(clusters=(), job_lists=("any",), log=LogOptions(path=str(service.root / "log")))
    now = at(90_060)
    assert known_jobs(options, now) == (PAYMENTS,)
    assert known_jobs(options, now, store=service.store) == (NESTED, PAYMENTS)
    assert known_jobs(options, now, within=timedelta(days=2)) == (ORDERS, PAYMENTS)
