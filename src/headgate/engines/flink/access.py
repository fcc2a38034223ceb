"""How to get into a cluster: its address, headers, token and TLS, with every secret resolved here and nowhere else."""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from yarl import URL

from headgate.config.secrets import Secret, redact, resolve
from headgate.options.service import ClusterOptions


@dataclass(frozen=True, slots=True)
class Access:
    """The resolved way into one cluster."""

    base: URL = field(repr=False)
    headers: Mapping[str, Secret]
    tls: ssl.SSLContext | bool
    token_file: Path | None
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
        password = {Secret(text) for text in (base.password, base.raw_password, _basic(base)) if text}
        return cls(base, headers, _tls_of(options), options.token_file, frozenset({*headers.values(), *password}))

    def url(self, path: str) -> URL:
        """Give the address of a path that is already encoded."""
        return URL(f"{self.base}{path}", encoded=True)

    def request_headers(self) -> dict[str, str]:
        """
        Give the headers of one request; the token is read anew, so that it may rotate.

        Raises:
            ValueError: the token file cannot be read.
        """
        headers = {name: value.reveal() for name, value in self.headers.items()}
        if self.token_file is not None:
            headers["Authorization"] = f"Bearer {self._token()}"
        return headers

    def redact(self, text: str) -> str:
        """Mask every secret of the cluster in a text."""
        values = [secret.reveal() for secret in self._secrets]
        with suppress(ValueError):
            values.append(self._token() if self.token_file else "")
        return redact(text, values)

    def _token(self) -> str:
        return resolve(f"${{file:{self.token_file}}}").strip()


def _basic(base: URL) -> str:
    """Give name and password as they are sent, in which form an answer may quote them; empty without a password."""
    return b64encode(f"{base.user or ''}:{base.password}".encode()).decode() if base.password else ""


def _tls_of(options: ClusterOptions) -> ssl.SSLContext | bool:
    if options.ca_file is None and options.client_certificate is None:
        return True
    try:
        context = ssl.create_default_context(cafile=options.ca_file)
        if options.client_certificate is not None:
            context.load_cert_chain(options.client_certificate, options.client_key)
    except (OSError, ssl.SSLError) as error:
        message = f"certificates of cluster {options.name} cannot be read: {error}"
        raise ValueError(message) from error
    return context
