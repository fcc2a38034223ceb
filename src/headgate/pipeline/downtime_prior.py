"""
The prior of the downtime model: what a series of rescales on one machine took, as package data.

Only its shape and its spread count, see `algorithm.downtime`: how long production takes, production tells.
"""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np

from headgate.algorithm.downtime import Lines, reaching
from headgate.algorithm.stats import Floats

_KINDS = ("in_place", "redeploy")
_COMMENT = "what rescales took in a series on one machine: seconds without state, seconds a byte, spread as a logarithm"


def read_prior() -> Lines:
    """Give the prior, one line a kind."""
    return parse_prior(files("headgate.pipeline").joinpath("rescale_prior.json").read_text("utf-8"))


def parse_prior(text: str) -> Lines:
    """
    Read what `prior_text` wrote.

    Raises:
        KeyError: a kind or a number is missing.
    """
    told = json.loads(text)
    base, per_byte, spread, count = (
        np.array([told[kind][name] for kind in _KINDS], dtype=np.float64)
        for name in ("base_s", "per_byte_s", "spread", "count")
    )
    return reaching(base_s=base, per_byte_s=per_byte, spread=spread, count=count)


def prior_text(prior: Lines) -> str:
    """Give a prior, as `algorithm.downtime.fit_series` learns it, as the text of the package's file."""
    rows = zip(prior.base_s, prior.per_byte_s, prior.spread, prior.count, strict=True)
    kinds = {kind: _told(*row) for kind, row in zip(_KINDS, rows, strict=True)}
    return json.dumps({"comment": _COMMENT, **kinds}, indent=2) + "\n"


def _told(base_s: Floats, per_byte_s: Floats, spread: Floats, count: Floats) -> dict[str, float]:
    return {
        "base_s": float(f"{base_s:.4g}"),
        "per_byte_s": float(f"{per_byte_s:.4g}"),
        "spread": float(f"{spread:.4g}"),
        "count": int(count),
    }
