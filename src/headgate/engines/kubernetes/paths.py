"""The two ways in which the operator changes a job, in place or by a redeploy, and why one of them is closed."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.engines.kubernetes.resources import FlinkResource
from headgate.options.kubernetes import Upgrades

_IN_PLACE = ("kubernetes.operator.job.upgrade.inplace-scaling.enabled", "job.upgrade.inplace-scaling.enabled")
_FIRST_WITH_REQUIREMENTS = (1, 18)
_FORGETFUL = 2
"""The major version of Flink from which a job that starts is not given its overrides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Managed:
    """A job as its resources describe it."""

    resource: FlinkResource
    """Its own: a FlinkDeployment or a FlinkSessionJob."""
    cluster: FlinkResource
    """The FlinkDeployment that runs it, which may be the same."""

    def why_not_in_place(self, *, adaptive: bool | None) -> str:
        """
        Say why the operator would not change its parallelism in place; empty when it would.

        Args:
            adaptive: what Flink says of the job's scheduler; None leaves it to the configuration.
        """
        configuration = {**self.cluster.configuration, **self.resource.configuration}
        if not self.cluster.is_native:
            return "its mode is standalone"
        if configuration.get("scheduler-mode", "").lower() == "reactive":
            return "its scheduler-mode is reactive"
        if not _is_adaptive(configuration.get("jobmanager.scheduler", ""), adaptive):
            return "its jobmanager.scheduler is not adaptive"
        if "false" in {configuration.get(key, "").lower() for key in _IN_PLACE}:
            return "its inplace-scaling is turned off"
        return "" if self._version >= _FIRST_WITH_REQUIREMENTS else "its Flink is older than 1.18"

    def why_no_upgrade(self, allowed: Upgrades) -> str:
        """Say why the operator may not redeploy it; empty when it may."""
        if allowed is Upgrades.NEVER:
            return "a redeploy is not allowed. Hint: `upgrades: with-state` in the options of its Kubernetes cluster"
        if allowed is Upgrades.WITH_STATE and self.resource.upgrade_mode == "stateless":
            return "a redeploy would lose its state. Hint: set its spec.job.upgradeMode to savepoint or last-state"
        return ""

    @property
    def forgets_overrides(self) -> bool:
        """Whether its Flink starts a job without the overrides."""
        return self._version[0] >= _FORGETFUL

    @property
    def _version(self) -> tuple[int, ...]:
        """Its Flink's version, `v1_20`; an unknown one counts as one that can everything."""
        digits = str(self.cluster.spec.get("flinkVersion", "")).removeprefix("v").split("_")
        return tuple(int(part) for part in digits) if all(part.isdecimal() for part in digits) else (1, 18)


def _is_adaptive(written: str, told: bool | None) -> bool:  # noqa: FBT001 -- three-valued, not a switch
    return told if told is not None else written.lower() == "adaptive"
