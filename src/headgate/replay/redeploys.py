"""Which jobs of a service are rescaled by a redeploy; without their launch specs, which may hold secrets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

from headgate.config.launches import SAVEPOINT_REDEPLOY
from headgate.control.redeployment import Redeployment
from headgate.model.identity import JobKey
from headgate.model.pattern import fits
from headgate.model.redeploy import Launch
from headgate.options.service import ServiceOptions
from headgate.ports import JobContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Redeploys:
    """Knows of a job's redeploys what a decision depends on; a value, which may be pickled."""

    launches: tuple[tuple[str, Launch], ...] = ()
    """By pattern; the last that matches counts."""
    realizers: Collection[str] = frozenset({SAVEPOINT_REDEPLOY})

    @classmethod
    def of(cls, options: ServiceOptions) -> Self:
        """Take what the options of a service say."""
        specs = ((entry.match, entry.launch.spec) for entry in options.jobs)
        return cls(launches=tuple((match, replace(spec, args=(), configuration={})) for match, spec in specs if spec))

    @property
    def redeployment(self) -> Redeployment:
        """The same, as the control side asks for it."""
        return Redeployment(applies=self._applies, launch_of=self._launch_of)

    def _applies(self, ctx: JobContext) -> bool:
        return ctx.options.realizer in self.realizers

    def _launch_of(self, job: JobKey) -> Launch | None:
        return next((launch for match, launch in reversed(self.launches) if fits(str(job), match)), None)
