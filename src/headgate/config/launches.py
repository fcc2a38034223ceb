"""Which launch spec the operator has declared for a job, and what is to be said of jobs that are redeployed."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.identity import JobKey
from headgate.model.pattern import fits
from headgate.model.redeploy import Launch
from headgate.options.service import ServiceOptions

SAVEPOINT_REDEPLOY = "savepoint-redeploy"
"""The realizer that replaces a job, as `job.autoscaler.scaling.realizer.class` names it."""


def launch_of(options: ServiceOptions, job: JobKey) -> Launch | None:
    """Give the launch spec of the last entry of `jobs` that matches the job and has one; None: there is none."""
    matching = (entry.launch.spec for entry in reversed(options.jobs) if fits(str(job), entry.match))
    return next((spec for spec in matching if spec is not None), None)


def remarks(options: ServiceOptions) -> Iterator[str]:
    """Say what `savepoint-redeploy` means where it is set, and where it will be refused."""
    whole = (
        "where Flink's scheduler is not the adaptive one, all vertices get one parallelism: the largest that one needs"
    )
    if options.autoscaler.realizer == SAVEPOINT_REDEPLOY:
        yield f"all jobs are rescaled by a redeploy: {whole}; those without `launch` must come by `headgate submit`"
        return
    for entry in options.jobs:
        if entry.autoscaler.realizer == SAVEPOINT_REDEPLOY:
            missing = "" if entry.launch.spec else "; it has no `launch`, so only what came by `headgate submit` is"
            yield f"{entry.match} is rescaled by a redeploy: {whole}{missing}"
