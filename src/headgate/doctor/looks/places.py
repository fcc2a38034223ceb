"""Looks at what Headgate itself needs: its state store, its log directory, and the addresses that it listens on."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from sqlalchemy import text

from headgate.config.plugins import catalog_of
from headgate.config.secrets import resolve
from headgate.doctor.facts import ListeningFacts, OwnFacts, PlaceFacts, Tried
from headgate.errors import HeadgateError
from headgate.options.service import LogOptions, ServiceOptions
from headgate.options.serving import Address
from headgate.plugins.catalog import Tables
from headgate.plugins.kinds import Kind
from headgate.samplelog import files
from headgate.stores.connecting import connect, name_of, url_of
from headgate.stores.faults import translated
from headgate.stores.memory import MemoryStateStore
from headgate.stores.opening import MEMORY, open_store

_PATIENCE = timedelta(seconds=5)


def look_at_places(options: ServiceOptions) -> OwnFacts:
    """Look at all of them; nothing that stays is made, and nothing is brought up to date or kept open."""
    return OwnFacts(
        store=_look_at_store(options),
        log=_look_at_log(options.log),
        listening=tuple(_look_at_addresses(options)),
    )


def _look_at_log(log: LogOptions) -> PlaceFacts | Tried:
    if log.directory is not None:
        return look_at_place(log.directory)
    try:
        told = files.tried(files.root_of(log))
    except (OSError, HeadgateError) as error:
        return Tried(fault=f"{log.told}: {error}")
    return Tried(told=f"{log.told} can be written") if told is None else Tried(fault=f"{log.told}: {told}")


def look_at_place(path: Path) -> PlaceFacts:
    """Look at a directory, or at the nearest one above it that is there."""
    there = next(each for each in (path, *path.absolute().parents) if is_there(each))
    try:
        free = shutil.disk_usage(there).free
    except OSError:
        free = None
    return PlaceFacts(
        path=path,
        exists=is_there(path),
        writable=there.is_dir() and os.access(there, os.W_OK | os.X_OK),
        free_bytes=free,
    )


def is_there(path: Path) -> bool:
    """Tell whether this user sees it; `Path.exists` fails behind a directory that is closed to them."""
    return os.access(path, os.F_OK)


def _look_at_store(options: ServiceOptions) -> Tried:
    """Contact a database without touching its tables: bringing them up to date is for the service."""
    reference = options.state_store
    if reference != MEMORY and reference in catalog_of(Tables.of(options)).names(Kind.STATE_STORE):
        return Tried(told=f"{reference}, a plugin")
    try:
        url = resolve(reference)
        store = open_store(url)
        if isinstance(store, MemoryStateStore):
            return Tried(told=MEMORY)
        store.close()
        return _contact(url)
    except (HeadgateError, ValueError) as error:
        return Tried(fault=str(error))


def _contact(url: str) -> Tried:
    parsed = url_of(url)
    if parsed.get_backend_name() == "sqlite":
        return _look_at_file(Path(str(parsed.database)))
    engine = connect(url, _PATIENCE)
    try:
        with translated(name_of(url)), engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    finally:
        engine.dispose()
    return Tried(told=f"{name_of(url)} answers")


def _look_at_file(file: Path) -> Tried:
    """Look at an SQLite file from outside: whoever opens it makes it."""
    place = look_at_place(file.parent)
    if is_there(file):
        allowed = place.writable and os.access(file, os.R_OK | os.W_OK)
        return Tried(told=f"{file} is there") if allowed else Tried(fault=f"{file} cannot be written by this user")
    if not place.exists:
        return Tried(fault=f"the directory of {file} does not exist")
    return Tried(told=f"{file} will be made") if place.writable else Tried(fault=f"{file} cannot be made by this user")


def _look_at_addresses(options: ServiceOptions) -> Iterator[ListeningFacts]:
    metrics, agents = options.metrics, options.agents
    if metrics.enabled:
        yield _look_at_address("metrics.address", metrics.listen_on, needed=metrics.address is not None)
    if agents.listen_on is not None:
        yield _look_at_address("agents.address", agents.listen_on, needed=True)


def _look_at_address(key: str, address: Address, *, needed: bool) -> ListeningFacts:
    return ListeningFacts(key=key, address=str(address), needed=needed, fault=_listen(address))


def _listen(address: Address) -> str | None:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address.host, address.port))
        except OSError as error:
            return (error.strerror or str(error)).lower()
    return None
