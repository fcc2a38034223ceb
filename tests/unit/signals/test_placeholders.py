"""Names of jobs inside queries are never more than names."""

from __future__ import annotations

from dataclasses import replace

import jsonpath
import pytest

from headgate.model.identity import JobKey, VertexId
from headgate.options.signals import SignalOptions
from headgate.signals.placeholders import PlaceholderError, fill_path, fill_query, values_for
from headgate.testing.builders import context

EVIL = "x\"'`\\\n} or y{"


def values(job: str = "orders") -> dict[str, str | None]:
    """Give what the placeholders stand for."""
    return {"job": job, "job-id": "j1", "cluster": "prod", "vertex": None}


def test_outside_of_quotes_a_name_is_quoted() -> None:
    """So the operator writes no quotes, and need not think of them."""
    assert fill_query("lag{job=${job},on=${cluster}}", values()) == 'lag{job="orders",on="prod"}'


@pytest.mark.parametrize(
    ("query", "filled"),
    [
        ('a{job="p-${job}"}', 'a{job="p-x\\"\'`\\\\\\n} or y{"}'),
        ("a{job='${job}'}", "a{job='x\"\\'`\\\\\\n} or y{'}"),
        ("a{job=${job}}", 'a{job="x\\"\'`\\\\\\n} or y{"}'),
        ('a{b="\\"${job}"}', 'a{b="\\"x\\"\'`\\\\\\n} or y{"}'),
    ],
)
def test_inside_of_quotes_a_name_cannot_end_them(query: str, filled: str) -> None:
    """Whatever quotes, backslashes and line ends it holds."""
    assert fill_query(query, values(EVIL)) == filled


def test_a_raw_text_takes_what_it_can_hold() -> None:
    """Between backquotes nothing can be escaped, so a name with one in it is refused."""
    assert fill_query("a{job=`${job}`}", values('a"b')) == 'a{job=`a"b`}'
    with pytest.raises(PlaceholderError, match="holds a backquote"):
        fill_query("a{job=`${job}`}", values("a`b"))


def test_for_a_regular_expression_a_name_is_taken_literally() -> None:
    """Both escapes are made, that of the expression and that of the text."""
    assert fill_query("a{job=~${job:regex}}", values("a.b|c")) == 'a{job=~"a\\\\.b\\\\|c"}'


def test_an_apostrophe_in_a_comment_begins_no_text() -> None:
    """Otherwise what follows would be filled in as if it stood between quotes."""
    query = "a # don't ${job}\n+ b{job=${job}}"
    assert fill_query(query, values(), comment="#") == 'a # don\'t ${job}\n+ b{job="orders"}'


def test_a_filled_jsonpath_finds_only_the_job() -> None:
    """A name with quotes in it, by both kinds of quotes and without."""
    document = [{"name": "a'b\"c", "n": 1}, {"name": "other", "n": 2}]
    for query in ("$[?@.name == ${job}].n", '$[?@.name == "${job}"].n', "$[?@.name == '${job}'].n"):
        assert jsonpath.findall(fill_query(query, values("a'b\"c")), document) == [1]


def test_in_an_address_a_name_is_encoded() -> None:
    """It names one segment, not a way through the service."""
    assert fill_path("/q/${job}?c=${cluster}", values("../a b?x=1&y")) == "/q/..%2Fa%20b%3Fx%3D1%26y?c=prod"


def test_what_is_no_placeholder_is_refused_with_those_there_are() -> None:
    """A typing error does not become a query for something else."""
    with pytest.raises(PlaceholderError, match=r"\$\{jobs\} is no placeholder. Hint: one of \$\{job\}, "):
        fill_query("a{job=${jobs}}", values())


def test_a_vertex_stands_for_exactly_one() -> None:
    """By id or by pattern; a bracket stands for itself; more than one, or none, is no name."""
    names = {VertexId("v1"): "Source: [eu] orders", VertexId("v2"): "Sink"}
    ctx = replace(context(JobKey("prod", "orders")), vertices=names)

    def vertex(wanted: str | None) -> str | None:
        return values_for(ctx, SignalOptions(name="s", source="p", vertex=wanted))["vertex"]

    assert vertex("v2") == "Sink"
    assert vertex("Source: [eu]*") == "Source: [eu] orders"
    assert vertex("S*") is vertex("none") is vertex(None) is None
    with pytest.raises(PlaceholderError, match="stands for one vertex"):
        fill_query("${vertex}", values())
