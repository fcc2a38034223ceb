"""What a sample tells of whether its job is fit for reactive mode; what it does not tell stays unknown."""

from __future__ import annotations

from headgate.algorithm.suitability import Facts
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions


def facts_of(sample: JobSample, options: AutoscalerOptions, *, jobs: int, replaced: bool = False) -> Facts:
    """
    Give the facts that are known of a running job.

    Args:
        sample: of the job.
        options: its own.
        jobs: jobs of its cluster, this one included.
        replaced: whether the job is changed by being replaced: then no scheduler has to do it in place.
    """
    settings, topology = sample.settings, sample.topology
    return Facts(
        adaptive=settings.adaptive or replaced,
        bounds={vertex.name: vertex.max_parallelism for vertex in topology.vertices},
        min_parallelism=options.reactive.min_parallelism,
        reactive=settings.reactive,
        jobs=jobs,
    )
