"""The prior of the downtime model that the package ships is what the committed runs give."""

from __future__ import annotations

from benchmarks.rescale_page import PRIOR, RUNS, fit_prior

from headgate.pipeline.downtime_prior import prior_text
from headgate.rescales.runs_file import RunsFile


def test_the_prior_is_what_the_model_learns_from_the_runs() -> None:
    """Else: `python -m benchmarks.rescale_page`."""
    assert PRIOR.read_text(encoding="utf-8") == prior_text(fit_prior(RunsFile(RUNS).rows()))
