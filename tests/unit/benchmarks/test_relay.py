"""The relay counts what passes, and goes away and comes back as a server does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from benchmarks.relay import Relay

PATIENCE_S = 10.0


@pytest.fixture
async def relay() -> AsyncIterator[Relay]:
    """A relay before a server that says what it hears."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while heard := await reader.read(100):
            writer.write(heard)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, Relay("127.0.0.1", server.sockets[0].getsockname()[1]) as relay:
        yield relay


async def said(relay: Relay, text: bytes) -> bytes:
    """Say something over a connection of its own, and give what comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
    try:
        writer.write(text)
        return await asyncio.wait_for(reader.read(100), PATIENCE_S)
    finally:
        writer.close()


async def test_connections_and_bytes_are_counted(relay: Relay) -> None:
    """Both ways."""
    assert [await said(relay, b"hello"), await said(relay, b"you")] == [b"hello", b"you"]
    assert relay.passed.connections == 2
    assert (relay.passed.bytes_to_server, relay.passed.bytes_to_client) == (8, 8)


async def test_it_refuses_and_comes_back(relay: Relay) -> None:
    """What was open is broken, and nothing new is taken meanwhile; afterwards the port is the same."""
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
    writer.write(b"a")
    assert await asyncio.wait_for(reader.read(1), PATIENCE_S) == b"a"
    relay.refuse()
    with pytest.raises(ConnectionError):
        await said(relay, b"hello")
    with suppress(ConnectionError):
        assert await asyncio.wait_for(reader.read(1), PATIENCE_S) == b""
    writer.close()
    await relay.restore()
    assert await said(relay, b"hello") == b"hello"


async def test_it_hangs_and_comes_back(relay: Relay) -> None:
    """What was said meanwhile passes in the end."""
    relay.hang()
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
    writer.write(b"hello")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.read(100), 0.05)
    await relay.restore()
    assert await asyncio.wait_for(reader.read(100), PATIENCE_S) == b"hello"
    writer.close()
