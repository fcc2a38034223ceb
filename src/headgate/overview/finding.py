"""From what somebody types to a job: `cluster/job`, or the bare name where only one cluster has it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from difflib import get_close_matches

from headgate.errors import NotFoundError
from headgate.model.identity import JobKey
from headgate.model.printable import printable
from headgate.options.service import ServiceOptions
from headgate.ports import StateStore
from headgate.samplelog.files import root_of
from headgate.samplelog.reader import LogReader

REMEMBERED = timedelta(days=1)
"""How far back the log is asked for jobs."""

_NAMED = 5
"""Jobs that a hint lists at most."""


def known_jobs(
    options: ServiceOptions, now: datetime, *, store: StateStore | None = None, within: timedelta = REMEMBERED
) -> tuple[JobKey, ...]:
    """
    List the jobs that were decided on lately, and those that the store holds something open or ordered for.

    Args:
        options: where the samples log is.
        now: the present.
        store: asked too, where there is one.
        within: how far back the log is read.

    Raises:
        UnreachableError: the log or the store cannot be read.
    """
    decided = LogReader(root_of(options.log)).jobs(now - within, now)
    stored = (*store.in_flight(), *store.orders().jobs) if store else ()
    return tuple(sorted({*decided, *stored}))


def find_job(text: str, known: Collection[JobKey]) -> JobKey:
    """
    Find the job that a text means: by its key, else by its name alone, which may hold a slash itself.

    Raises:
        NotFoundError: no job is called so, or jobs of several clusters are; the hint lists what may have been meant.
    """
    found = [key for key in known if str(key) == text] or sorted(key for key in known if key.name == text)
    if len(found) == 1:
        return found[0]
    if found:
        message = f"{len(found)} jobs are called {text!r}. Hint: write one of {_listed(found)}"
        raise NotFoundError(message)
    message = f"no job is called {text!r}. Hint: {_suggestion(text, known)}"
    raise NotFoundError(message)


def _suggestion(text: str, known: Collection[JobKey]) -> str:
    if near := _near(text, known):
        return f"did you mean {_listed(near)}?"
    if known:
        return f"known are {_listed(sorted(known))}"
    return "no job is known. Has `headgate run` decided on any yet, with this file?"


def _near(text: str, known: Iterable[JobKey]) -> list[JobKey]:
    """Give the jobs whose key or name is spelt alike, the likest first."""
    spelt: dict[str, list[JobKey]] = {}
    for key in sorted(known):
        for spelling in (str(key), key.name):
            spelt.setdefault(spelling.lower(), []).append(key)
    alike = get_close_matches(text.lower(), spelt, n=_NAMED)
    return list(dict.fromkeys(key for spelling in alike for key in spelt[spelling]))


def _listed(jobs: Collection[JobKey]) -> str:
    rest = len(jobs) - _NAMED
    return ", ".join(
        [*(printable(str(job)) for job in list(jobs)[:_NAMED]), *([f"and {rest} more"] if rest > 0 else [])]
    )
