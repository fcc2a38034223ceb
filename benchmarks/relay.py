"""A TCP relay on the loopback: it counts what passes, and can refuse or hang as a server that goes away does."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

_CHUNK = 65_536


@dataclass(slots=True, kw_only=True)
class Passed:
    """What passed since the relay began."""

    connections: int = 0
    bytes_to_server: int = 0
    bytes_to_client: int = 0


class Relay:
    """
    Hands connections on to a server; use it as an async context manager.

    Attributes:
        port: where it listens on 127.0.0.1.
        passed: counts, going on.
    """

    def __init__(self, host: str, port: int, *, listen_on: int = 0) -> None:
        """Begin with the context; `host` and `port` are the server's, `listen_on` 0 takes a free port."""
        self.port = listen_on
        self.passed = Passed()
        self._server = (host, port)
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._listener: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Listen."""
        await self._listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End, with all connections."""
        self._flowing.set()
        self.refuse()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def refuse(self) -> None:
        """Break all connections and take no more, as if the server had ended."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for writer in self._writers:
            writer.transport.abort()

    def hang(self) -> None:
        """Take connections and bytes, and let nothing through, as if the server's machine were gone."""
        self._flowing.clear()

    async def restore(self) -> None:
        """Be as at the beginning."""
        self._flowing.set()
        if self._listener is None:
            await self._listen()

    async def _listen(self) -> None:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._listener.sockets[0].getsockname()[1]

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.passed.connections += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            await self._connect(reader, writer)
        except OSError:
            writer.transport.abort()
        finally:
            self._writers.discard(writer)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._flowing.wait()
        from_server, to_server = await asyncio.open_connection(*self._server)
        self._writers.add(to_server)
        try:
            await asyncio.gather(
                self._pump(reader, to_server, "bytes_to_server"), self._pump(from_server, writer, "bytes_to_client")
            )
        finally:
            self._writers.discard(to_server)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, count: str) -> None:
        with suppress(OSError):
            while chunk := await source.read(_CHUNK):
                await self._flowing.wait()
                setattr(self.passed, count, getattr(self.passed, count) + len(chunk))
                sink.write(chunk)
                await sink.drain()
        sink.close()
