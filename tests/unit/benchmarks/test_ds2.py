"""DS2's published results, by the benchmark's own parts; only the many random queries are left to the benchmark."""

from __future__ import annotations

import json

import pytest
from benchmarks.ds2 import cells, draws, wordcount
from benchmarks.ds2.__main__ import RESULTS
from benchmarks.ds2.published import STEPS
from benchmarks.ds2.trial import DS2, learning

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


def test_random_queries_have_the_optimum_that_they_were_drawn_for() -> None:
    """The same seed gives the same queries; a curve rises as far as anybody goes."""
    for query in draws.drawn(1):
        assert query.curve(query.optimum - 1) < query.need <= query.curve(query.optimum)
        assert query.curve(query.optimum + 10) > query.curve(query.optimum)
    assert [query.seed for query in draws.drawn(1)] == [query.seed for query in draws.drawn(1)]


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
