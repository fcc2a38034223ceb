"""
Which jobs of a fleet surely stay as they are, told in arrays: the many that do need no proposal for each vertex.

It never calls a job balanced for which `decide` would record a step; what a job remembers is not looked at here, so a
job that remembers anything is asked there all the same.
"""

from __future__ import annotations

import numpy as np

from headgate.algorithm.batch import Evaluation
from headgate.algorithm.fleet import Layout
from headgate.algorithm.policies import LARGEST
from headgate.algorithm.rates import ieee
from headgate.algorithm.stats import Bools


@ieee
def balanced(layout: Layout, evaluation: Evaluation) -> Bools:
    """Tell of which jobs (m,) every vertex is within its band and wants the parallelism that it runs at."""
    wanted = np.ceil(np.minimum(evaluation.factor * layout.parallelism, LARGEST))
    content = np.isnan(evaluation.factor) | (wanted == layout.parallelism)
    restless = np.bincount(layout.job, weights=evaluation.outside | ~content, minlength=len(layout.shapes))
    settled = np.array([shape.settled for shape in layout.shapes], dtype=np.bool_)
    still: Bools = settled & (restless == 0)
    return still
