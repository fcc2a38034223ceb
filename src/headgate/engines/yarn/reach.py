"""How a ResourceManager and an application are asked: addresses, credentials, and who says that he asks."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from headgate.engines.flink.client import FlinkClient
from headgate.errors import UnreachableError
from headgate.options.service import ClusterOptions
from headgate.options.yarn import YarnOptions

_APPLICATION = re.compile(r"application_\d+_\d+")
_ADDRESS = re.compile(r"[\w.-]+:\d+|\[[0-9a-fA-F:.]+\]:\d+")


class YarnClient(FlinkClient):
    """Speaks to a web address of YARN, or through it to Flink; names a user where YARN wants one."""

    def __init__(self, options: ClusterOptions, user: str | None) -> None:
        """Keep the options; nothing is resolved or opened yet."""
        super().__init__(options)
        self._user = user

    async def _send(self, method: str, path: str, *rest: Any, **named: Any) -> bytes:
        return await super()._send(method, signed(path, self._user), *rest, **named)


def signed(path: str, user: str | None) -> str:
    """Add who asks to a path, as Hadoop's simple authentication wants it."""
    if user is None:
        return path
    return f"{path}{'&' if '?' in path else '?'}user.name={quote(user, safe='')}"


def manager_options(options: YarnOptions, url: str) -> ClusterOptions:
    """Give the way to a ResourceManager."""
    return ClusterOptions(
        name=options.name,
        url=url,
        ca_file=options.ca_file,
        token_file=options.token_file,
        headers=options.headers,
        request_timeout=options.request_timeout,
    )


def client_of(options: YarnOptions, cluster: str, *, application: str, manager: str, rest: str) -> FlinkClient:
    """
    Give a client of one application's Flink.

    The proxy's address is put together from what the operator declared: the tracking URL that YARN tells is not
    followed, for an application may have a say in it. Past the proxy no credentials are sent.

    Args:
        options: of the YARN cluster.
        cluster: what the application is called in job keys.
        application: its id.
        manager: address of the ResourceManager that listed it.
        rest: host and port that the application registered.

    Raises:
        UnreachableError: the id or the address is none.
    """
    if not options.direct:
        return YarnClient(_proxied(options, cluster, application, manager), options.user)
    if not _ADDRESS.fullmatch(rest):
        message = f"{application} has registered no address that could be asked: {rest!r}"
        raise UnreachableError(message)
    return FlinkClient(
        ClusterOptions(
            name=cluster,
            url=f"http://{rest}",
            request_timeout=options.request_timeout,
            max_calls_in_flight=options.max_calls_in_flight,
        )
    )


def _proxied(options: YarnOptions, cluster: str, application: str, manager: str) -> ClusterOptions:
    if not _APPLICATION.fullmatch(application):
        message = f"{application!r} is no application id"
        raise UnreachableError(message)
    base = (options.proxy_url or manager).rstrip("/")
    return ClusterOptions(
        name=cluster,
        url=f"{base}/proxy/{application}",
        ca_file=options.ca_file,
        token_file=options.token_file,
        headers=options.headers,
        request_timeout=options.request_timeout,
        max_calls_in_flight=options.max_calls_in_flight,
    )
