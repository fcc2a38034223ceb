"""States as JSON and back."""

from __future__ import annotations

import json

from headgate.model.state import JobState
from headgate.stores.codec import SCHEMA_VERSION, decode_record, decode_state, encode_record, encode_state
from headgate.testing.conformance.state_store import NOON, full_state, record


def test_a_state_comes_back_as_it_was() -> None:
    """Every field, infinite numbers included, with its type."""
    back = decode_state(encode_state(full_state()), job="j", store="s")
    assert back == full_state()
    assert [type(value) for value in back.outbox[0].fields.values()] == [int, float, str]


def test_a_rescale_comes_back_as_it_was() -> None:
    """Instants keep their microseconds."""
    assert decode_record(encode_record(record("d1", NOON)), job="j", store="s") == record("d1", NOON)


def test_the_schema_version_stands_in_the_text() -> None:
    """A text can be told from those of other versions by itself."""
    assert json.loads(encode_state(JobState()))["schema_version"] == SCHEMA_VERSION
