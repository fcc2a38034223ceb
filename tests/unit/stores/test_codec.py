"""States as JSON and back."""

from __future__ import annotations

import json

import pytest

from headgate.errors import PermanentError
from headgate.model.redeploy import Overlay
from headgate.model.state import JobState
from headgate.stores.codec import SCHEMA_VERSION, decode_record, decode_state, encode_record, encode_state
from headgate.testing.conformance.state_store import NOON, full_state, record

_OF_ROLLBACKS = ("first", "trial", "rollback", "bounds")


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
    assert json.loads(encode_state(JobState()))["schema_version"] == SCHEMA_VERSION == 5


def test_a_state_from_before_redeploys_is_read() -> None:
    """What it does not name has its default."""
    older = json.loads(encode_state(full_state()))
    older["schema_version"] = 1
    for name in ("launch", "overlay", "deferred", "job_wide", *_OF_ROLLBACKS):
        del older["state"][name]
    for name in ("redeploy", "takes_back", "trial"):
        del older["state"]["intent"][name]
    back = decode_state(json.dumps(older), job="j", store="s")
    assert back.intent
    assert (back.intent.redeploy, back.launch, back.overlay) == (None, None, Overlay())


def test_a_state_from_before_rollbacks_is_read() -> None:
    """Nothing of it is on trial, bound or paused: its last rescale was made by a Headgate that takes nothing back."""
    older = json.loads(encode_state(full_state()))
    older["schema_version"] = 2
    for name in _OF_ROLLBACKS:
        del older["state"][name]
    del older["state"]["intent"]["takes_back"], older["state"]["intent"]["trial"]
    back = decode_state(json.dumps(older), job="j", store="s")
    assert back.intent
    assert (back.intent.takes_back, back.intent.trial) == (None, None)
    assert (back.first, back.trial, back.rollback, back.bounds) == (None, None, None, ())
    assert back.launch == full_state().launch


def test_a_state_from_before_orders_is_read() -> None:
    """No pause was told of, and none of its changes was somebody's order."""
    older = json.loads(encode_state(full_state()))
    older["schema_version"] = 3
    del older["state"]["paused"], older["state"]["taken_up"]
    del older["state"]["intent"]["ordered"], older["state"]["trial"]["ill_since"]
    back = decode_state(json.dumps(older), job="j", store="s")
    assert back.intent
    assert (back.paused, back.taken_up, back.intent.ordered) == (None, None, False)


def test_a_state_from_before_evidence_in_numbers_is_read() -> None:
    """Why something was taken back was a sentence then, and still is."""
    older = json.loads(encode_state(full_state()))
    older["schema_version"] = 4
    sentence = "checker network-memory: 2 failures for want of network buffers: 17 required, 3 of 2048 available"
    older["state"]["rollback"]["why"] = older["state"]["bounds"][0]["why"] = sentence
    back = decode_state(json.dumps(older), job="j", store="s")
    assert back.rollback
    assert (back.rollback.why, back.bounds[0].why) == (sentence, sentence)
    assert decode_state(encode_state(back), job="j", store="s") == back


def test_evidence_is_stored_in_numbers() -> None:
    """So that nobody has to read them from a sentence that is meant for people."""
    stored = json.loads(encode_state(full_state()))["state"]["rollback"]["why"]
    assert stored["shortage"] == {"pool": "network memory", "required": 17, "available": None, "buffers": None}


def test_a_state_of_a_newer_headgate_is_refused() -> None:
    """Whatever this one does not know of it would be lost with the next save."""
    newer = encode_state(full_state()).replace('"schema_version":5', '"schema_version":6')
    with pytest.raises(PermanentError, match=r"job j in s has schema version 6, this Headgate reads 1 to 5.* newer"):
        decode_state(newer, job="j", store="s")
