"""
What the HTTP clients have in common: which proxy they use, whom they trust, and how code in threads calls them.

aiohttp's `trust_env` is not used: besides proxies it reads `~/.netrc`, and refuses a request whose own `Authorization`
meets an entry there.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Coroutine
from pathlib import Path
from threading import Lock, Thread
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import (
    BaseHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    build_opener,
    getproxies,
    proxy_bypass,
)

from headgate.options.serving import Address

T = TypeVar("T")


def proxy_of(url: str) -> str | None:
    """
    Return the proxy for an address: `HTTP_PROXY` or `HTTPS_PROXY` by its scheme; None where it is reached directly.

    So are the hosts that `NO_PROXY` names, and this machine, which no proxy reaches.
    """
    parts = urlsplit(url)
    host = parts.hostname
    if not host or Address(host=host, port=0).is_loopback or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return getproxies().get(parts.scheme)


def trusted(ca_file: Path | None, certificate: Path | None = None, key: Path | None = None) -> ssl.SSLContext | bool:
    """
    Return whom to trust, and what to show them; True stands for what this machine trusts.

    Raises:
        ValueError: a file cannot be read, or holds no certificate.
    """
    if ca_file is None and certificate is None:
        return True
    try:
        context = ssl.create_default_context(cafile=ca_file)
        if certificate is not None:
            context.load_cert_chain(certificate, key)
    except OSError as error:
        names = ", ".join(str(file) for file in (ca_file, certificate, key) if file is not None)
        message = f"certificates cannot be read from {names}: {error}"
        raise ValueError(message) from error
    return context


def opener_for(url: str, *handlers: BaseHandler, ca_file: Path | None = None) -> OpenerDirector:
    """
    Return what opens an address by the standard library, for where aiohttp is not installed.

    Raises:
        ValueError: the certificates cannot be read.
    """
    proxy, trust = proxy_of(url), trusted(ca_file)
    secure = () if isinstance(trust, bool) else (HTTPSHandler(context=trust),)
    return build_opener(ProxyHandler({urlsplit(url).scheme: proxy} if proxy else {}), *secure, *handlers)


def reason_of(error: Any) -> str:
    """Say why a request failed, shorter than aiohttp does where nobody listens."""
    system: OSError | None = getattr(error, "os_error", None)
    if system is not None and system.errno and not isinstance(system, ssl.SSLError):  # whose number is no errno
        return f"no connection to {error.host}:{error.port} ({os.strerror(system.errno)})"
    return str(error) or type(error).__name__


class LoopThread:
    """
    An event loop in a thread of its own, so that clients keep their connections between calls of code in threads.

    It starts with the first call and ends with `close`. Safe to call from several threads, but not from one that has a
    running loop: it would stand still.
    """

    def __init__(self, name: str) -> None:
        """
        Start nothing yet.

        Args:
            name: of the thread.
        """
        self._name = name
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """
        Do some calls and wait for them.

        Raises:
            concurrent.futures.CancelledError: it was closed meanwhile.
            Exception: whatever the work raises.
        """
        return asyncio.run_coroutine_threadsafe(work, self._running()).result()

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Give up calls under way, do something last, and end; a later call starts anew."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            last.close()
            return
        asyncio.run_coroutine_threadsafe(_end(last), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(target=self._loop.run_forever, name=f"headgate-{self._name}", daemon=True)
                self._thread.start()
            return self._loop


async def _end(last: Coroutine[Any, Any, None]) -> None:
    under_way = asyncio.all_tasks() - {asyncio.current_task()}
    for task in under_way:
        task.cancel()
    await asyncio.gather(*under_way, return_exceptions=True)
    await last
