"""What libraries and asyncio log stands in Headgate's own log, in its own form."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from headgate.cli import logs
from headgate.options.service import LogLevel

GONE = "cannot reach postgresql://me:hu/sh@db:5432/x"


@pytest.fixture(autouse=True)
def _undone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave the process's logging as it was."""
    before, level = structlog.get_config(), logging.root.level
    monkeypatch.setattr(logging.root, "handlers", [])
    yield
    structlog.configure(**before)
    logging.root.setLevel(level)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    """Read the JSON lines on standard output; nothing else may be there, nor on standard error."""
    written = capsys.readouterr()
    assert not written.err
    return [json.loads(line) for line in written.out.splitlines()]


def test_an_exception_of_a_task_that_nobody_awaits_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    """With its traceback, on one line."""
    logs.configure(json=True)

    async def lost() -> None:
        raise ConnectionError(GONE)

    async def main() -> None:
        asyncio.get_running_loop().create_task(lost())
        await asyncio.sleep(0)
        gc.collect()

    asyncio.run(main())
    (line,) = lines(capsys)
    assert (line["event"], line["logger"], line["level"]) == ("library", "asyncio", "error")
    assert line["message"].startswith("Task exception was never retrieved")
    assert line["exception"].endswith("ConnectionError: cannot reach postgresql://***@db:5432/x")
    assert line["timestamp"]


@pytest.mark.parametrize(
    ("level", "seen"),
    [
        (LogLevel.DEBUG, ["debug", "info", "warning", "error"]),
        (LogLevel.WARNING, ["warning", "error"]),
        (LogLevel.ERROR, ["error"]),
    ],
)
def test_what_is_seen_of_a_library_is_an_option(
    level: LogLevel, seen: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """From a severity on; what Headgate says itself does not depend on it."""
    logs.configure(json=True, libraries=level)
    library = logging.getLogger("library.of.the.test")
    for severity in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
        library.log(severity, "connection %d", 7)
    structlog.get_logger("headgate").info("started")
    *of_library, own = lines(capsys)
    assert [line["level"] for line in of_library] == seen
    assert {line["message"] for line in of_library} == {"connection 7"}
    assert own["event"] == "started"


def test_a_library_that_sets_its_own_level_says_no_more_for_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As SQLAlchemy does as soon as it is imported."""
    logs.configure(json=True, libraries=LogLevel.ERROR)
    library = logging.getLogger("library.of.the.test")
    monkeypatch.setattr(library, "level", logging.INFO)
    library.warning("slow")
    library.error("closed")
    assert [line["message"] for line in lines(capsys)] == ["closed"]


def test_a_severity_of_its_own_is_the_next_lower_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Libraries may number theirs as they like."""
    logs.configure(json=True)
    logging.getLogger("kafka").log(35, "a notice")
    logging.getLogger("kafka").log(99, "the end")
    assert [line["level"] for line in lines(capsys)] == ["warning", "critical"]


def test_no_login_of_an_address_is_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither of the message nor of the exception; the rest of both is as it was."""
    logs.configure(json=True)
    logging.getLogger("pool").error("closing https://me:hush@db:1/y failed", exc_info=ConnectionError(GONE))
    (line,) = lines(capsys)
    assert line["message"] == "closing https://***@db:1/y failed"
    assert line["exception"] == "ConnectionError: cannot reach postgresql://***@db:5432/x"


def test_people_read_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    """The same in a form without braces."""
    logs.configure(json=False)
    logging.getLogger("pool").warning("too many connections")
    (line,) = capsys.readouterr().out.splitlines()
    assert "library" in line
    assert "too many connections" in line
