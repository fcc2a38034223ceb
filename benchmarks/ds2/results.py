"""Runs everything and gives the raw results, as plain values that JSON can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.ds2 import cells, draws, wordcount
from benchmarks.ds2.outcome import Cells, Outcome
from benchmarks.ds2.published import STEPS
from benchmarks.ds2.trial import DS2, learning
from headgate.options.autoscaler import AutoscalerOptions

PRIORS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0)
"""For the sensitivity; the default is among them."""

RULES: Mapping[str, AutoscalerOptions] = {"DS2": DS2, "Headgate": learning(DS2)}
"""On the word count and in the cells."""

DRAW_RULES: Mapping[str, AutoscalerOptions] = {
    "DS2, no band": draws.PUBLISHED,
    "DS2": draws.BANDED,
    "Headgate": learning(draws.BANDED),
}
"""On random queries: DS2 as published, then both with the same headroom and band."""


def results(seeds: Sequence[int]) -> dict[str, Any]:
    """Run the whole benchmark; a few minutes for ten seeds."""
    return {
        "prior": AutoscalerOptions().observed_scalability_prior,
        "word count": {rule: wordcount.path(options) for rule, options in RULES.items()},
        "cells": {
            "published": {"steps": STEPS, "mean": sum(k * n for k, n in STEPS.items()) / sum(STEPS.values())},
            "setting": asdict(cells.REPRODUCING),
            **{rule: _cells(cells.run(cells.REPRODUCING, options), paths=True) for rule, options in RULES.items()},
        },
        "as it stands": {rule: _cells(cells.run(cells.AS_IT_STANDS, options)) for rule, options in RULES.items()},
        "settings": [_setting(setting) for setting in cells.GRID],
        "priors": {str(prior): _prior(prior, seeds) for prior in PRIORS},
        "seeds": {str(seed): _draws(seed, None) for seed in seeds},
        "watched": {str(seed): _draws(seed, draws.LATER) for seed in seeds},
    }


def _setting(setting: cells.Setting) -> dict[str, Any]:
    return {**asdict(setting), **{rule: _cells(cells.run(setting, options)) for rule, options in RULES.items()}}


def _cells(found: Cells, *, paths: bool = False) -> dict[str, Any]:
    known: dict[str, Any] = {
        "steps": found.steps,
        "mean": round(found.mean, 4),
        "too many": found.too_many,
        "oscillations": found.oscillations,
        "ends": found.ends,
    }
    return known | ({"paths": [outcome.path for outcome in found.outcomes]} if paths else {})


def _prior(prior: float, seeds: Sequence[int]) -> dict[str, Any]:
    banded = learning(draws.BANDED, prior)
    outcomes = [outcome for seed in seeds for outcome in draws.run(seed, banded)]
    reproducing = _cells(cells.run(cells.REPRODUCING, learning(DS2, prior)))
    standing = _cells(cells.run(cells.AS_IT_STANDS, learning(DS2, prior)))
    return {"cells": reproducing, "as it stands": standing, "draws": _summary(outcomes)}


def _draws(seed: int, cycles: int | None) -> dict[str, Any]:
    return {rule: _summary(draws.run(seed, options, cycles)) for rule, options in DRAW_RULES.items()}


def _summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return {
        "steps": sum(outcome.steps for outcome in outcomes),
        "oscillations": sum(outcome.oscillates for outcome in outcomes),
        "too slow": sum(not outcome.sustains for outcome in outcomes),
        "overshoot": _distribution([max(outcome.too_many, 0) for outcome in outcomes if outcome.steps]),
        "ends": _distribution([outcome.end for outcome in outcomes]),
    }


def _distribution(values: Sequence[int]) -> dict[int, int]:
    return dict(sorted(Counter(values).items()))
