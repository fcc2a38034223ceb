"""DS2's published results, by the benchmark's own parts; only the many random queries are left to the benchmark."""

from __future__ import annotations

import json

import pytest
from benchmarks.ds2 import cells, draws, wordcount
from benchmarks.ds2.__main__ import RESULTS
from benchmarks.ds2.page import BEGIN, END, rendered
from benchmarks.ds2.published import MAPPER, STEPS
from benchmarks.ds2.service import busy_at, hindered, stretched, through
from benchmarks.ds2.trial import DS2, learning
from benchmarks.page import PAGE, with_part

from headgate.options.autoscaler import AutoscalerOptions

HEADGATE = learning(DS2)


@pytest.mark.parametrize("options", [DS2, HEADGATE], ids=["DS2", "Headgate"])
def test_word_count_takes_one_step(options: AutoscalerOptions) -> None:
    """From one flat map and one count to ten and twenty, the source being fast enough."""
    assert wordcount.path(options) == ((1, 1, 1), (1, 10, 20))


def test_ds2_takes_the_published_steps() -> None:
    """One step in 19 cells, two in 14, three in 3, and always to the optimum."""
    found = cells.run(cells.REPRODUCING, DS2)

    assert found.steps == STEPS
    assert round(found.mean, 2) == 1.56
    assert found.ends == {0: 36}


def test_headgate_takes_fewer() -> None:
    """Never more than two, one instance too many at most, no parallelism twice, and always to the optimum."""
    found = cells.run(cells.REPRODUCING, HEADGATE)

    assert set(found.steps) <= {1, 2}
    assert found.mean < 1.4
    assert found.too_many <= 1
    assert found.oscillations == 0
    assert found.ends == {0: 36}


def test_the_curve_as_it_stands_is_no_worse() -> None:
    """Where the rate at any parallelism is the published curve's, Headgate needs two steps at most, DS2 four."""
    ds2, headgate = (cells.run(cells.AS_IT_STANDS, options) for options in (DS2, HEADGATE))

    assert (max(ds2.steps), max(headgate.steps)) == (4, 2)
    assert headgate.mean < ds2.mean
    assert headgate.oscillations == 0
    assert headgate.ends == {0: 36}


@pytest.mark.parametrize("setting", [cells.REPRODUCING, cells.AS_IT_STANDS], ids=["reproducing", "as it stands"])
def test_the_optimum_is_the_least_that_sustains_the_target(setting: cells.Setting) -> None:
    """One instance less does not."""
    for optimum, operator in cells.queries(setting):
        assert operator.true_rate(optimum - 1) < operator.target <= operator.true_rate(optimum)


def test_too_many_subtasks_are_slowed_down_by_the_busy_ones_only() -> None:
    """At weight 1 a vertex of any size above what it needs is as fast for each subtask as at just enough."""
    mapper = through(MAPPER)
    operator = hindered(mapper, mapper(10), 1.0)

    assert busy_at(mapper, mapper(10)) == pytest.approx(10)
    assert operator.true_rate(20) == pytest.approx(2 * mapper(10))
    assert operator.true_rate(8) == mapper(8)


def test_the_mapper_s_curve_goes_through_its_points() -> None:
    """Straight lines between them, the last one prolonged; stretching moves the points apart."""
    mapper = through(MAPPER)

    assert all(mapper(parallelism) == rate for parallelism, rate in MAPPER.items())
    assert mapper(3) == (MAPPER[2] + MAPPER[4]) / 2
    assert mapper(32) == pytest.approx(2 * MAPPER[26] - MAPPER[20])
    assert stretched(mapper, 2.0)(16) == MAPPER[8]


def test_random_queries_have_the_optimum_that_they_were_drawn_for() -> None:
    """The same seed gives the same queries; a curve rises as far as anybody goes."""
    for query in draws.drawn(1):
        assert query.curve(query.optimum - 1) < query.need <= query.curve(query.optimum)
        assert query.curve(query.optimum + 10) > query.curve(query.optimum)
    assert [query.seed for query in draws.drawn(1)] == [query.seed for query in draws.drawn(1)]


def test_the_page_is_made_of_the_results() -> None:
    """The tables in the docs are what the raw results beside the benchmark say."""
    page = PAGE.read_text(encoding="utf-8")

    assert with_part(page, rendered(json.loads(RESULTS.read_text(encoding="utf-8"))), begin=BEGIN, end=END) == page


def test_the_results_keep_what_is_claimed() -> None:
    """On every seed no more steps than DS2, no oscillation, and the load is sustained; none in any setting either."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))

    assert len(found["seeds"]) >= 5
    assert not any(setting["Headgate"]["oscillations"] for setting in found["settings"])
    assert found["cells"]["Headgate"]["paths"] == [
        list(outcome.path) for outcome in cells.run(cells.REPRODUCING, HEADGATE).outcomes
    ]
    for stage in ("seeds", "watched"):
        for rules in found[stage].values():
            assert rules["Headgate"]["steps"] <= min(rules["DS2"]["steps"], rules["DS2, no band"]["steps"])
            assert rules["Headgate"]["oscillations"] == rules["Headgate"]["too slow"] == 0
