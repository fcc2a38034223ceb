"""A sample becomes a message and comes back the same."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import PermanentError, RefusedError
from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure, Measure
from headgate.model.samples import EngineSettings, JobSample, Signal, VertexSample
from headgate.samplelog.messages import MESSAGE_VERSION, message_of, read_message
from headgate.samplelog.rows import job_table, sample_table, signal_table, vertex_table
from headgate.testing.builders import at, chain, sample
from headgate.testing.strategies import instants

SOURCE = VertexId("source")
NUMBERS = st.floats(allow_nan=False)


@st.composite
def samples(draw: st.DrawFn) -> JobSample:
    """Draw a sample with any values, at any instant."""
    measured = VertexSample(
        measured_at=draw(instants()),
        epoch=draw(st.integers(0, 9)),
        values=draw(st.dictionaries(st.sampled_from(Measure), NUMBERS)),
    )
    return replace(
        sample(chain({"source": 2, "sink": 3}), tick=draw(instants())),
        vertices={SOURCE: measured},
        values=draw(st.dictionaries(st.sampled_from(JobMeasure), NUMBERS)),
        signals={"depth": Signal(value=draw(st.floats(allow_nan=False, allow_infinity=False)), measured_at=at(1.5))},
        settings=EngineSettings(memory={"taskmanager.memory.process.size": "1g"}, rescale_cooldown_s=0.1),
        slots_total=draw(st.none() | st.integers(0, 99)),
        checkpointed_at=draw(st.none() | instants()),
    )


def told(message: bytes) -> dict[str, object]:
    """Read a message as anybody would."""
    read: dict[str, object] = json.loads(message)
    return read


@given(samples())
def test_a_sample_comes_back_as_it_was(one: JobSample) -> None:
    """Also an infinite value, and all its rows in the log."""
    back = read_message(message_of(one))
    assert back == one
    for table in (sample_table, job_table, vertex_table, signal_table):
        assert table([back]).equals(table([one]))


def test_a_message_of_a_newer_version_is_refused_with_a_way_out() -> None:
    """What it means is not known, so nothing in it counts."""
    newer = json.dumps({**told(message_of(sample(chain({"source": 1})))), "version": MESSAGE_VERSION + 1})
    with pytest.raises(PermanentError, match=r"message version 2, this Headgate reads up to 1\. Hint: update it"):
        read_message(newer.encode())


def test_a_measure_that_is_not_known_here_is_left_out() -> None:
    """A newer Headgate measures more; that alone makes no newer version."""
    one = replace(sample(chain({"source": 1})), vertices={SOURCE: VertexSample(measured_at=at(0))})
    text = message_of(one).decode().replace('"values":{}', '"values":{"lag_records":7.0,"of_tomorrow":1}', 1)
    assert read_message(text.encode()).vertices[SOURCE].values == {Measure.LAG: 7.0}


@pytest.mark.parametrize(
    "message", [b"", b"[]", b'{"version":1}', b'{"version":"x","sample":{}}', b'{"version":1,"sample":{}}', b"\xff"]
)
def test_what_is_no_sample_is_refused(message: bytes) -> None:
    """Whoever can write to the topic can write anything."""
    with pytest.raises(RefusedError, match="not a sample"):
        read_message(message)


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ('"parallelism":1,', '"parallelism":4000000000,'),
        ('"at":"2026-01-01T00:00:00Z"', '"at":"2026-01-01T00:00:00"'),
        ('"measured_at":"2026-01-01T00:00:00Z"', '"measured_at":"9999-01-01T00:00:00Z"'),
    ],
)
def test_what_the_log_cannot_hold_is_refused(written: str, instead: str) -> None:
    """It would keep a whole batch from being written, now and whenever that is tried again."""
    text = message_of(sample(chain({"source": 1}))).decode()
    assert written in text
    with pytest.raises(RefusedError, match="not a sample"):
        read_message(text.replace(written, instead).encode())


def test_an_infinite_value_is_no_null() -> None:
    """Null would be a value that is missing."""
    one = replace(
        sample(chain({"source": 1})),
        vertices={SOURCE: VertexSample(measured_at=at(0), values={Measure.OBSERVED_TPR: math.inf})},
    )
    assert b'"observed_tpr":Infinity' in message_of(one)
