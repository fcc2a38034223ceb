"""What a store keeps of redeploys is read back as it was, and what an older Headgate wrote is read too."""

from __future__ import annotations

import json
from datetime import timedelta

from headgate.model.identity import VertexId
from headgate.model.redeploy import (
    Launch,
    Overlay,
    Redeploy,
    Start,
    number_of_way_back,
    successor_of,
    trigger_of,
    way_back_of,
)
from headgate.model.state import Intent, JobState
from headgate.stores.codec import decode_state, encode_state
from headgate.testing.builders import at

AGG = VertexId("agg")
LAUNCH = Launch(jar="job.jar", args=("--password", "${env:PASSWORD}"), configuration={"a": "1"}, parallelism=2)
INTENT = Intent(
    decision_id="d1",
    decided_at=at(0),
    job_id="j1",
    fingerprint="f",
    before={AGG: 1},
    after={AGG: 3},
    deadline=at(60),
    redeploy=Redeploy(
        launch=LAUNCH,
        successor=successor_of("j1"),
        after=Start(parallelism=3, overlay=Overlay(overrides={"b": "2"}, removals=frozenset({"a"}))),
        before=Start(parallelism=1, vertices={AGG: 1}),
    ),
)
STATE = JobState(intent=INTENT, launch=LAUNCH, overlay=Overlay(overrides={"c": "3"}), job_wide=1)


def test_a_redeploy_under_way_is_read_as_it_was_written() -> None:
    """All that is needed to go on is there; a secret is kept as the reference that was written."""
    text = encode_state(STATE)
    assert decode_state(text, job="prod/orders", store="memory") == STATE
    assert "${env:PASSWORD}" in text


def test_a_state_of_before_there_were_redeploys_is_read() -> None:
    """It lacks every field of them."""
    envelope = json.loads(encode_state(JobState(intent=INTENT)))
    del envelope["state"]["intent"]["redeploy"]
    for field in ("launch", "overlay", "deferred", "job_wide"):
        del envelope["state"][field]
    read = decode_state(json.dumps(envelope), job="prod/orders", store="memory")
    assert read.intent
    assert (read.intent.redeploy, read.launch, read.overlay, read.deferred) == (None, None, Overlay(), Overlay())


def test_ids_are_those_of_flink_and_of_one_job_alone() -> None:
    """32 hex digits, the same wherever they are computed, no two alike."""
    back = [way_back_of("j1", number) for number in range(300)]
    ids = [successor_of("j1"), successor_of("j2"), *back, trigger_of("j1", "d1"), trigger_of("j1", "d2")]
    assert len(set(ids)) == len(ids)
    assert {len(bytes.fromhex(each)) for each in ids} == {16}
    assert [number_of_way_back(each, "j1") for each in back] == list(range(300))
    assert number_of_way_back(back[0], "j2") is number_of_way_back(successor_of("j1"), "j1") is None
    assert LAUNCH.start_limit == timedelta(minutes=5)
