"""
`JobState` as JSON text and back, with the version of its schema inside, so that a store never guesses.

It knows nothing of any store; a text it cannot read is reported with the job and the store it came from.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from headgate.errors import PermanentError
from headgate.model.orders import Orders
from headgate.model.state import JobState, ScalingRecord

SCHEMA_VERSION = 5
"""Raised with every change of `JobState` that an older Headgate could not read, or would lose without a word."""

READABLE = (1, 2, 3, 4, 5)
"""
Versions that can be read. 1: before redeploys, 2: rollbacks, 3: orders, 4: evidence in numbers, which was a sentence.

What they do not name has its default.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredState:
    """The envelope around a state."""

    schema_version: int
    state: JobState


_STATE: TypeAdapter[_StoredState] = TypeAdapter(_StoredState)
_RECORD: TypeAdapter[ScalingRecord] = TypeAdapter(ScalingRecord)
_ORDERS: TypeAdapter[Orders] = TypeAdapter(Orders)


def encode_state(state: JobState) -> str:
    """Write a state as one line of JSON."""
    return _json(_StoredState(schema_version=SCHEMA_VERSION, state=state))


def decode_state(text: str, *, job: str, store: str) -> JobState:
    """
    Read what `encode_state` wrote.

    Args:
        text: the JSON.
        job: whose state it is, for the error.
        store: where it was found, for the error.

    Raises:
        PermanentError: it is no JSON, was written under another schema, or does not fit this one.
    """
    try:
        found = _schema_version(text)
        if found in READABLE:
            return _STATE.validate_json(text).state
    except ValueError as error:
        message = f"the state of job {job} in {store} is unreadable: {_first_fault(error)}. {_HINT}"
        raise PermanentError(message) from error
    readable = f"{READABLE[0]} to {READABLE[-1]}"
    message = (
        f"the state of job {job} in {store} has schema version {found}, this Headgate reads {readable}. "
        f"Hint: a newer Headgate wrote it: run that version here too, or let the store forget the job"
    )
    raise PermanentError(message)


def encode_record(record: ScalingRecord) -> str:
    """Write one rescale as one line of JSON."""
    return _json(record)


def decode_record(text: str, *, job: str, store: str) -> ScalingRecord:
    """
    Read what `encode_record` wrote.

    Raises:
        PermanentError: it is no JSON or not a rescale.
    """
    try:
        return _RECORD.validate_json(text)
    except ValueError as error:
        message = f"a rescale of job {job} in {store} is unreadable: {_first_fault(error)}. {_HINT}"
        raise PermanentError(message) from error


def encode_orders(orders: Orders) -> str:
    """Write the orders for one job as one line of JSON."""
    return _json(orders)


def decode_orders(text: str, *, job: str, store: str) -> Orders:
    """
    Read what `encode_orders` wrote.

    Raises:
        PermanentError: it is no JSON or no orders.
    """
    try:
        return _ORDERS.validate_json(text)
    except ValueError as error:
        message = f"the orders for {job} in {store} are unreadable: {_first_fault(error)}. {_ORDERS_HINT}"
        raise PermanentError(message) from error


_HINT = "Hint: restore the store from a copy, or let it forget the job"
_ORDERS_HINT = "Hint: restore the store from a copy"


def _json(value: object) -> str:
    # An event may carry an infinite number, and strict JSON would turn it into null, which cannot be read back.
    return to_json(value, inf_nan_mode="constants").decode()


def _schema_version(text: str) -> object:
    envelope = from_json(text)
    return envelope.get("schema_version") if isinstance(envelope, dict) else None


def _first_fault(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    fault = error.errors()[0]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].lower()}"
