"""Texts into values: by hand, and yet exactly as pydantic reads them, which whoever writes a file may expect."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from headgate.config.coercion import coerced
from headgate.options.agent import AgentOptions
from headgate.options.declaration import Declaration, Options, declarations
from headgate.options.expectation import bare
from headgate.options.service import ServiceOptions
from headgate.options.units import MemorySize, parse_duration, parse_memory_size
from headgate.simulate.scenario import Scenario

PARSED = {timedelta: parse_duration, MemorySize: parse_memory_size}
WORDS = (
    *("", " ", "true", "TRUE", "Off", "yes", " true", "t", "n", "2", "unset"),
    *("0", "1", "-1", " 7 ", "1_000", "1__0", "_1", "+3", "1.0", "1.5", "1.", ".5", "1e3", "1e400", "0x1", "٣"),
    *("nan", "inf", "-Infinity", "1 s", "5min", "0.5 h", "30", "4000 d", "1 week", "512 mb", "1.5 gb", "x", " x "),
    *("act", "ACT", "BALANCED", "1.16.0", "INFO", "in-process", "DATA_RATE"),
)
"""What somebody may have written, rightly or not."""


def options_in(group: type[Options]) -> Iterator[Declaration]:
    """Yield every option with a value of its own, those of the groups inside included."""
    for declaration in declarations(group):
        inner = declaration.group or declaration.listed_group
        if inner:
            yield from options_in(inner)
        elif not declaration.is_table:
            yield declaration


DECLARED = {
    str(each.annotation): each for group in (ServiceOptions, AgentOptions, Scenario) for each in options_in(group)
}


def by_pydantic(annotation: Any, raw: Any) -> Any:
    """Read as pydantic does; durations and sizes have their own way of writing."""
    kind, _ = bare(annotation)
    return TypeAdapter(annotation).validate_python(PARSED[kind](raw) if kind in PARSED else raw)


def outcome(read: Any, annotation: Any, raw: Any) -> Any:
    """Give what comes of reading, a refusal included."""
    try:
        value = read(annotation, raw)
    except ValueError:
        return "refused"
    return type(value), repr(value)  # nan is not equal to itself


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_every_option_reads_every_word_as_pydantic_does(name: str) -> None:
    """The same value of the same type, or a refusal by both."""
    annotation = DECLARED[name].annotation
    is_list = get_origin(bare(annotation)[0]) is tuple
    for word in WORDS:
        raw = [word] if is_list else word
        assert outcome(coerced, annotation, raw) == outcome(by_pydantic, annotation, raw), word


@given(st.sampled_from([bool, int, float]), st.text("0123456789+-._eEinfatrueNx \t", max_size=8))
def test_whatever_is_written_is_read_as_pydantic_does(kind: type, text: str) -> None:
    """Underscores, signs, exponents and blanks in any order."""
    assert outcome(coerced, kind, text) == outcome(by_pydantic, kind, text)


def test_a_list_where_something_is_no_text_is_refused() -> None:
    """A null or a section inside of a list of names is none of them."""
    assert outcome(coerced, tuple[str, ...], ["a", None]) == "refused"
