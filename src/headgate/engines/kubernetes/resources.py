"""Reads FlinkDeployments and FlinkSessionJobs, version `v1beta1`: what is wanted, and what the operator made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from headgate.model.identity import VertexId

GROUP, VERSION = "flink.apache.org", "v1beta1"
OVERRIDES = "pipeline.jobvertex-parallelism-overrides"
"""Flink's own key; the operator rescales in place where it alone changes."""
_AUTOSCALER = ("job.autoscaler.", "kubernetes.operator.job.autoscaler.")
_REST_PORT = "8081"
_LONGEST_TEXT = 300
_REDEPLOYING = frozenset({"SUSPENDED", "ROLLING_BACK"})
_SUSPENDED = "suspended"


class Plural(StrEnum):
    """The kinds of resources, as they stand in paths."""

    DEPLOYMENT = "flinkdeployments"
    SESSION_JOB = "flinksessionjobs"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlinkResource:
    """One resource as it was read."""

    plural: Plural
    namespace: str
    name: str
    version: str
    """For the precondition of a change."""
    generation: int
    """Counts the changes of `spec`."""
    spec: Mapping[str, Any]
    status: Mapping[str, Any]

    def __str__(self) -> str:
        """Name it as `kubectl` does."""
        return f"{self.plural}/{self.name} in namespace {self.namespace}"

    @property
    def path(self) -> str:
        """Where it is, below the API's address."""
        return f"/apis/{GROUP}/{VERSION}/namespaces/{self.namespace}/{self.plural}/{self.name}"

    @property
    def deployment(self) -> str:
        """The name of the FlinkDeployment that is its cluster."""
        return str(self.spec.get("deploymentName", "")) if self.plural is Plural.SESSION_JOB else self.name

    @property
    def is_session(self) -> bool:
        """Whether it is a cluster without a job of its own."""
        return self.plural is Plural.DEPLOYMENT and not self.spec.get("job")

    @property
    def configuration(self) -> Mapping[str, str]:
        """Flink's configuration, nested or not, by whole keys."""
        return dict(_flattened(self.spec.get("flinkConfiguration") or {}))

    @property
    def rest_port(self) -> str:
        """Where its JobManager listens."""
        return self.configuration.get("rest.port", _REST_PORT)

    @property
    def is_native(self) -> bool:
        """Whether Flink itself starts and ends TaskManagers."""
        return bool((self.spec.get("mode") or "native") == "native")

    @property
    def upgrade_mode(self) -> str:
        """What is kept when the job is redeployed; nothing, unless it says so."""
        return str(self._job.get("upgradeMode") or "stateless")

    @property
    def is_suspended(self) -> bool:
        """Whether it is meant not to run."""
        return bool(self._job.get("state") == _SUSPENDED)

    @property
    def job_id(self) -> str:
        """Flink's id of its job, as far as the operator knows it."""
        return str(self._job_status.get("jobId") or "")

    @property
    def is_ready(self) -> bool:
        """Whether its JobManager answers the operator."""
        return bool(self.status.get("jobManagerDeploymentStatus") == "READY")

    @property
    def lifecycle(self) -> str:
        """The operator's word for all of it."""
        return str(self.status.get("lifecycleState") or "")

    @property
    def error(self) -> str:
        """What the operator has to complain of; empty when there is nothing."""
        return str(self.status.get("error") or "")[:_LONGEST_TEXT]

    @property
    def is_settled(self) -> bool:
        """
        Whether the operator has done what it will do by itself; it need not have worked.

        Not every version tells which generation it has seen.
        """
        seen = int(self.status.get("observedGeneration") or self.generation)
        return seen >= self.generation and self.lifecycle == "STABLE" and self._job_status.get("state") == "RUNNING"

    @property
    def is_redeploying(self) -> bool:
        """
        Whether the operator is ending the job to start it anew; it never is while it rescales in place.

        Its releases call both an upgrade. What they say to have done tells: only a redeploy suspends the job.
        """
        reconciliation = self.status.get("reconciliationStatus") or {}
        said = {self.lifecycle, reconciliation.get("state", "")}
        if "UPGRADING" in said and _suspends(reconciliation.get("lastReconciledSpec") or "{}"):
            return True
        return bool(_REDEPLOYING & said)

    @property
    def overrides(self) -> Mapping[VertexId, int]:
        """The parallelism that is written for each vertex; what is no number is left out."""
        return read_overrides(self.configuration.get(OVERRIDES, ""))

    @property
    def has_autoscaler(self) -> bool:
        """Whether the operator's own autoscaler scales the job, which swallows what others write."""
        return self._autoscaler("enabled", "false") == "true" and self._autoscaler("scaling.enabled", "true") != "false"

    @property
    def settings(self) -> Mapping[str, str]:
        """What its configuration says to Headgate; `enabled` alone is the operator's own autoscaler's business."""
        theirs = {f"{prefix}enabled" for prefix in _AUTOSCALER}
        return {key: text for key, text in self.configuration.items() if key not in theirs}

    @property
    def _job(self) -> Mapping[str, Any]:
        return self.spec.get("job") or {}

    @property
    def _job_status(self) -> Mapping[str, Any]:
        return self.status.get("jobStatus") or {}

    def _autoscaler(self, key: str, default: str) -> str:
        written = (self.configuration.get(f"{prefix}{key}") for prefix in _AUTOSCALER)
        return next((text.strip().lower() for text in written if text is not None), default)


def read_resource(plural: Plural, found: Mapping[str, Any]) -> FlinkResource:
    """Read a resource of the API's answer."""
    metadata = found["metadata"]
    return FlinkResource(
        plural=plural,
        namespace=metadata["namespace"],
        name=metadata["name"],
        version=metadata["resourceVersion"],
        generation=int(metadata.get("generation", 1)),
        spec=found.get("spec") or {},
        status=found.get("status") or {},
    )


def read_overrides(text: str) -> dict[VertexId, int]:
    """Read a map as Flink writes it, `vertex:2,other:3`, with or without braces and quotes."""
    pairs = (entry.partition(":") for entry in text.strip().strip("{}").split(","))
    named = ((vertex.strip(" '\""), number.strip(" '\"")) for vertex, _, number in pairs)
    return {VertexId(vertex): int(number) for vertex, number in named if vertex and number.isdecimal()}


def write_overrides(overrides: Mapping[VertexId, int]) -> str:
    """Write a map as Flink reads it."""
    return ",".join(f"{vertex}:{number}" for vertex, number in overrides.items())


def placed(configuration: Mapping[str, Any], key: str, value: str | None) -> dict[str, Any]:
    """Give the patch of a configuration that sets one key where it stands, nested or not; None takes it away."""
    for place, inner in configuration.items():
        if isinstance(inner, Mapping) and key.startswith(f"{place}."):
            return {place: placed(inner, key[len(place) + 1 :], value)}
    return {key: value}


def joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Give the one patch that does what two do."""
    shared = {key: (one[key], other[key]) for key in one.keys() & other.keys()}
    both = {
        key: joined(first, second)
        for key, (first, second) in shared.items()
        if isinstance(first, Mapping) and isinstance(second, Mapping)
    }
    return {**one, **other, **both}


def _suspends(reconciled: str) -> bool:
    """Tell whether the operator's latest work, which it writes down as JSON, was to suspend the job."""
    try:
        return bool(json.loads(reconciled)["spec"]["job"]["state"] == _SUSPENDED)
    except (TypeError, ValueError, KeyError):
        return False


def _flattened(configuration: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in configuration.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value).lower() if isinstance(value, bool) else str(value)
