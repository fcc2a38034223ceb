"""What a refused, failed or unreadable REST call means, in Headgate's own errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from headgate.errors import HeadgateError, NotFoundError, RefusedError, UnreachableError

RETRIED = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT})
"""Answers of something between us and Flink, or of a Flink that is just starting: worth a second try."""
_REFUSED = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.CONFLICT,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.NOT_IMPLEMENTED,
    }
)
_UNSUPPORTED = "UnsupportedOperationException"
_LONGEST = 300
_WRAPPERS = ("Internal server error.", "<Exception on server side:")
"""Lines by which Flink introduces the one that says something."""


class RetriedError(UnreachableError):
    """No answer this time, and asking once more may help."""


class UnauthorizedError(RefusedError):
    """Whoever stands before Flink wants credentials, or others."""


class ForbiddenError(RefusedError):
    """The credentials are known, and do not suffice."""


_DENIED: Mapping[int, type[RefusedError]] = {
    HTTPStatus.UNAUTHORIZED: UnauthorizedError,
    HTTPStatus.FORBIDDEN: ForbiddenError,
}


def failure_of(status: int, body: str, call: str) -> HeadgateError:
    """
    Give the error of an answer that is no success.

    Flink says "this scheduler cannot do that" with a 500, which only its text tells from a real failure.
    """
    text = f"{call} was answered {status}: {first_error_line(body)}"
    if status == HTTPStatus.NOT_FOUND:
        return NotFoundError(text)
    if denied := _DENIED.get(status):
        return denied(text)
    if status in _REFUSED or _UNSUPPORTED in body:
        return RefusedError(text)
    return RetriedError(text) if status in RETRIED else UnreachableError(text)


def first_error_line(body: str) -> str:
    """Give the first line of Flink's error text that says something, without its Java class, cut at 300 characters."""
    lines = [line.strip() for text in _error_texts(body) for line in text.splitlines()]
    spoken = (line for line in lines if line and line not in _WRAPPERS)
    line = next(spoken, "no text")
    return _without_class(line)[:_LONGEST]


def _error_texts(body: str) -> list[str]:
    try:
        errors = json.loads(body)["errors"]
    except (ValueError, TypeError, KeyError):
        return [body]
    return [str(error) for error in errors] if isinstance(errors, list) else [str(errors)]


def _without_class(line: str) -> str:
    """Drop a leading `java.lang.SomeException: ` when something follows it."""
    head, colon, rest = line.partition(": ")
    return rest if colon and rest and "." in head and " " not in head else line
