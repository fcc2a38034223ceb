"""Takes reports in over HTTP, in threads of its own: an agent never waits for a cycle, nor a cycle for an agent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from http import HTTPStatus
from typing import Any

from headgate.errors import HeadgateError, RefusedError
from headgate.intake.reading import Report, read_report
from headgate.options.serving import Address
from headgate.serving import Handler, listening

PATH = "/v1/reports"
LARGEST_BODY = 8 * 2**20
"""Bytes of a report; more is refused unread."""

Keep = Callable[[Report], None]


def taking_reports(keep: Keep, address: Address, token: str | None) -> AbstractContextManager[int]:
    """
    Take reports in, and give the port: that of the address, or a free one where it is 0.

    Args:
        keep: keeps a report; several threads call it.
        address: where to listen.
        token: what senders must show; None lets everybody in who can reach the address.

    Raises:
        ConfigError: when it is entered: the address is in use, is not one of this machine, or needs rights that the
            process lacks.
    """
    hint = "choose another port, or leave it unset to take no reports"
    return listening(address, partial(_Handler, keep, token), option="agents.address", hint=hint)


class _Handler(Handler):
    def __init__(self, keep: Keep, token: str | None, *connection: Any) -> None:
        self._keep = keep
        self._token = token
        super().__init__(*connection)

    def do_POST(self) -> None:  # noqa: N802 - so the library calls it
        """Take one report."""
        refusal = self._refusal()
        if refusal is not None:
            self.answer(*refusal)
            return
        body = self.rfile.read(self._length or 0)
        try:
            self._keep(read_report(body))
        except RefusedError as error:
            self.answer(HTTPStatus.BAD_REQUEST, str(error))
        except HeadgateError as error:
            self.answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        except Exception as error:  # noqa: BLE001 - whatever a report makes happen, its sender is told
            self.answer(HTTPStatus.INTERNAL_SERVER_ERROR, f"the report cannot be kept: {type(error).__name__}")
        else:
            self.answer(HTTPStatus.NO_CONTENT)

    def _refusal(self) -> tuple[HTTPStatus, str] | None:
        if self.path != PATH:
            return HTTPStatus.NOT_FOUND, f"reports are taken at {PATH}"
        if not self.shows(self._token):
            return HTTPStatus.UNAUTHORIZED, "the token is missing or not the right one"
        if self._length is None:
            return HTTPStatus.LENGTH_REQUIRED, "the report's length is not told"
        if self._length > LARGEST_BODY:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a report has {LARGEST_BODY} bytes at most"
        return None

    @property
    def _length(self) -> int | None:
        told = self.headers.get("Content-Length", "")
        return int(told) if told.isascii() and told.isdecimal() else None
