"""The options of a YARN cluster: where its ResourceManager is, and how its Flink applications are reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class YarnOptions(Options):
    """
    One YARN cluster, all of whose Flink applications are looked after. Secrets come as `${env:NAME}` or `${file:PATH}`.

    Raises:
        ValueError: the name cannot stand in a job key, or an address is none.
    """

    name: str = option("name")
    """How the cluster is called: an application is the cluster `<name>:<application name>` in job keys; no slash."""

    urls: tuple[str, ...] = option("urls", secret=True)
    """Addresses of the ResourceManagers, `http://host:8088`; with several, the active one is found."""

    proxy_url: str | None = option("proxy-url", None, secret=True)
    """Address of the web proxy where that runs by itself (`yarn.web-proxy.address`); unset: the ResourceManager's."""

    direct: bool = option("direct", default=False)
    """
    Ask each application at the address that it registered, past the proxy and without any credentials.

    Whoever may submit applications chooses where that leads.
    """

    applications: str = option("applications", "*")
    """Names of the applications to look after, `*` and `?` allowed."""

    user: str | None = option("user", None)
    """Who asks, where YARN authenticates simply: sent as `user.name`."""

    headers: Mapping[str, str] = option("headers", default_factory=dict, secret=True)
    """Headers added to each request to ResourceManager and proxy, such as `Authorization`; their values are secrets."""

    token_file: Path | None = option("token-file", None)
    """File with a bearer token for a gateway in front, read again after a second so that it may rotate."""

    ca_file: Path | None = option("ca-file", None)
    """Certificates to trust, PEM; unset: the system's."""

    request_timeout: PositiveDuration = option("request-timeout", timedelta(seconds=10))
    """Time limit of one request, all of it."""

    max_calls_in_flight: Annotated[int, Interval(ge=1)] = option("max-calls-in-flight", 16)
    """Requests to one application that may be open at once."""

    def __post_init__(self) -> None:
        """Refuse what could never reach a cluster."""
        if not self.name or "/" in self.name:
            message = f"name {self.name!r} must be a text without a slash, as it stands in job keys"
            raise ValueError(message)
        if not self.urls:
            message = f"urls of {self.name} are missing. Hint: `urls: [http://host:8088]`"
            raise ValueError(message)
        addresses = [*self.urls, *([self.proxy_url] if self.proxy_url else [])]
        if not all(address.startswith(("http://", "https://", "${")) for address in addresses):
            # Addresses are not shown: they may hold a password.
            message = f"an address of {self.name} does not begin with http:// or https://"
            raise ValueError(message)
