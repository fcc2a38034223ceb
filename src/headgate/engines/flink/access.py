"""How to get into a cluster: its address, headers, token and TLS, with every secret resolved here and nowhere else."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from yarl import URL

from headgate.config.secrets import Secret, redact, resolve
from headgate.http_client import proxy_of, trusted
from headgate.options.service import ClusterOptions

TOKEN_AGE_S = 1.0
"""After which a token is read again: many requests a second need not read the file each."""


class Token:
    """
    A bearer token in a file that may rotate, for one event loop.

    Attributes:
        latest: as it was last read, to be masked; empty before.
    """

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self.latest = ""
        self._reference = f"${{file:{path}}}"
        self._read_at_s: float | None = None
        self._reading = asyncio.Lock()

    async def read(self) -> str:
        """
        Return the token, at most `TOKEN_AGE_S` old; the file is read in a thread, as its disk may be slow.

        Raises:
            ValueError: the file cannot be read.
        """
        async with self._reading:
            now_s = asyncio.get_running_loop().time()
            if self._read_at_s is None or now_s - self._read_at_s >= TOKEN_AGE_S:
                self.latest = (await asyncio.to_thread(resolve, self._reference)).strip()
                self._read_at_s = now_s
            return self.latest


@dataclass(frozen=True, slots=True)
class Access:
    """The resolved way into one cluster."""

    base: URL = field(repr=False)
    headers: Mapping[str, Secret]
    tls: ssl.SSLContext | bool
    proxy: str | None = field(repr=False)
    token: Token | None
    _secrets: frozenset[Secret] = field(default=frozenset())

    @classmethod
    def of(cls, options: ClusterOptions) -> Access:
        """
        Resolve what the options refer to.

        Raises:
            ValueError: a variable is not set, a file cannot be read, or is no certificate.
        """
        base = URL(resolve(options.url).rstrip("/"))
        headers = {name: Secret(resolve(value)) for name, value in options.headers.items()}
        proxy = proxy_of(str(base))
        told = (base.password, base.raw_password, _basic(base), proxy and URL(proxy).password)
        password = {Secret(text) for text in told if text}
        token = None if options.token_file is None else Token(options.token_file)
        tls = trusted(options.ca_file, options.client_certificate, options.client_key)
        return cls(base, headers, tls, proxy, token, frozenset({*headers.values(), *password}))

    def url(self, path: str) -> URL:
        """Give the address of a path that is already encoded."""
        return URL(f"{self.base}{path}", encoded=True)

    async def request_headers(self) -> dict[str, str]:
        """
        Give the headers of one request, with a token that may have rotated.

        Raises:
            ValueError: the token file cannot be read.
        """
        headers = {name: value.reveal() for name, value in self.headers.items()}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {await self.token.read()}"
        return headers

    def redact(self, text: str) -> str:
        """Mask every secret of the cluster in a text."""
        values = [secret.reveal() for secret in self._secrets]
        return redact(text, [*values, self.token.latest] if self.token else values)


def _basic(base: URL) -> str:
    """Give name and password as they are sent, in which form an answer may quote them; empty without a password."""
    return b64encode(f"{base.user or ''}:{base.password}".encode()).decode() if base.password else ""
