"""Where Headgate listens, and who may come in: for its metrics and its health, and for the reports of agents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from headgate.options.declaration import Options, option

LOOPBACK = "127.0.0.1"
"""Where a server listens unless it is told otherwise."""
_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^:\[\]\s]*):(?P<port>[0-9]{1,5})")
_LAST_PORT = 65_535
_HINT = "Hint: write it as ${env:NAME} or ${file:PATH}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to listen."""

    host: str
    port: int
    """0: any free one."""

    def __str__(self) -> str:
        """Write it as `parse` reads it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """
        Read `host:port`, `[host]:port` for IPv6, or `:port` for this machine only.

        Raises:
            ValueError: it reads otherwise, or the port is not 1 to 65535.
        """
        match = _ADDRESS.fullmatch(text.strip())
        if match is None or not 0 < int(match["port"]) <= _LAST_PORT:
            message = f"address {text!r} is none. Hint: write host:port, like '{LOOPBACK}:9464'"
            raise ValueError(message)
        return cls(host=match["host"].strip("[]") or LOOPBACK, port=int(match["port"]))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it, as far as its name tells."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsOptions(Options):
    """
    Headgate's own metrics, for Prometheus, and its health, for whoever restarts it.

    Raises:
        ValueError: the address is none, or other machines reach it and there is no token; all faults at once.
    """

    enabled: bool = option("enabled", default=True)
    """Whether `/metrics`, `/healthz` and `/readyz` are served."""

    address: str | None = option("address", None)
    """
    Where to serve them, `host:port`; `:port` is reached from this machine only. Unset: `127.0.0.1:9464`, and if that is
    in use nowhere, with a warning. One that is set and cannot be had is a fault.
    """

    token: str | None = option("token", None, secret=True)
    """
    What who reads the metrics must show, as `Authorization: Bearer`; unset: nothing, which only an address of this
    machine allows. Probes of health need none, and are told no reasons without it.
    """

    per_vertex: bool = option("per-vertex", default=True)
    """Whether the metrics of each vertex are among them: a dozen series a vertex, most of all there are."""

    def __post_init__(self) -> None:
        """Refuse what nobody could listen on, and what anybody could read."""
        _refuse(self.address, self.token, "what Prometheus must show")

    @property
    def listen_on(self) -> Address:
        """The address, taken apart."""
        return Address(host=LOOPBACK, port=9464) if self.address is None else Address.parse(self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeOptions(Options):
    """
    Taking in what agents report that are attached to PySpark applications.

    Raises:
        ValueError: the address is none, or other machines reach it and there is no token; all faults at once.
    """

    address: str | None = option("address", None)
    """Where reports are taken, `host:port`; `:port` is reached from this machine only. Unset: none are taken."""

    token: str | None = option("token", None, secret=True)
    """What agents must show (`report.token`); unset: nothing, which only an address of this machine allows."""

    def __post_init__(self) -> None:
        """Refuse what nobody could listen on, and what anybody could write to."""
        _refuse(self.address, self.token, "what agents must show")

    @property
    def listen_on(self) -> Address | None:
        """The address, taken apart."""
        return None if self.address is None else Address.parse(self.address)


def _refuse(address: str | None, token: str | None, meaning: str) -> None:
    if faults := tuple(_faults(address, token, meaning)):
        raise ValueError("\n".join(faults))


def _faults(address: str | None, token: str | None, meaning: str) -> Iterator[str]:
    if token is not None and not token.strip():
        yield f"token is empty, and is to be {meaning}. {_HINT}"
    if address is None:
        return
    try:
        where = Address.parse(address)
    except ValueError as error:
        yield str(error)
        return
    if token is None and not where.is_loopback:
        yield f"address {where} is reached from other machines, so token is needed: {meaning}. {_HINT}"
