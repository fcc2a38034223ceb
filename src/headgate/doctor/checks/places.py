"""Whether Headgate can keep what it must keep, and listen where it is to listen."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.doctor.facts import ListeningFacts, OwnFacts, PlaceFacts, Tried
from headgate.doctor.findings import Finding, broken, doubtful, fine
from headgate.stores.opening import MEMORY

_GIB = 2**30
_LITTLE, _TOO_LITTLE = _GIB, _GIB // 16
"""Bytes free below which the log will soon be, and is, in trouble."""


def check_places(facts: OwnFacts) -> Iterator[Finding]:
    """Check the state store, the log directory and the addresses."""
    yield _store(facts.store)
    yield _log(facts.log)
    yield from map(_listening, facts.listening)


def _store(store: Tried) -> Finding:
    check = "state store"
    if store.fault is not None:
        why = "what was done to a job, and what is under way, must survive a restart"
        return broken(check, store.fault, why=why, remedy="correct `state-store`, or start the database")
    if store.told == MEMORY:
        why = "history, and a change under way, are lost with the process"
        return doubtful(check, MEMORY, why=why, remedy="set `state-store: sqlite:///headgate.db`, or a database")
    return fine(check, store.told)


def _log(log: PlaceFacts | Tried) -> Finding:
    check, why = "samples log", "what is decided rests on the samples of the last minutes, which are written there"
    if isinstance(log, Tried):
        remedy = "correct `log.path` or `log.endpoint`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        return fine(check, log.told) if log.fault is None else broken(check, log.fault, why=why, remedy=remedy)
    if not log.writable:
        seen = f"{log.path} cannot be {'written' if log.exists else 'made'} by this user"
        return broken(check, seen, why=why, remedy="set `log.path` to a directory of this user's")
    if log.free_bytes is None:
        return fine(check, f"{log.path} can be written")
    seen = f"{log.path} can be {'written' if log.exists else 'made'}; {log.free_bytes / _GIB:,.1f} GiB free"
    if log.free_bytes >= _LITTLE:
        return fine(check, seen)
    find = broken if log.free_bytes < _TOO_LITTLE else doubtful
    return find(check, seen, why=why, remedy="make room, shorten `log.retention`, or set `log.path` to a larger disk")


def _listening(listening: ListeningFacts) -> Finding:
    if listening.fault is None:
        return fine(listening.key, f"{listening.address} is free")
    return doubtful(
        listening.key,
        f"nothing can listen on {listening.address}: {listening.fault}",
        why="`headgate run` does not start without it"
        if listening.needed
        else "Headgate's metrics would not be served",
        remedy="nothing, if it is a Headgate that runs already; else choose another port",
    )
