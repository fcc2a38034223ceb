"""The options of a Kubernetes cluster whose operator runs Flink: where its API is, and how the jobs are reached."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


class Upgrades(StrEnum):
    """Which changes may be made by letting the operator redeploy the job."""

    NEVER = "never"
    WITH_STATE = "with-state"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesOptions(Options):
    """
    One Kubernetes cluster, all of whose FlinkDeployments and FlinkSessionJobs are looked after.

    Raises:
        ValueError: the name cannot stand in a job key, or the address is none.
    """

    name: str = option("name")
    """How the cluster is called: a deployment is `<name>:<namespace>.<deployment>` in job keys; no slash."""

    namespaces: tuple[str, ...] = option("namespaces", ())
    """Where to look; none named: in all of them, which takes a ClusterRole."""

    label_selector: str = option("label-selector", "")
    """Which FlinkDeployments and FlinkSessionJobs to look after, as `kubectl -l` takes it; empty: all."""

    kubeconfig: str = option("kubeconfig", "")
    """Empty: the service account of Headgate's own pod, else `$KUBECONFIG`, else the one of the home directory."""

    context: str = option("context", "")
    """Of the kubeconfig; empty: its current one."""

    rest_url: str = option("rest-url", "http://{deployment}-rest.{namespace}:{port}")
    """Address of a JobManager; `{deployment}`, `{namespace}` and `{port}` (its `rest.port`) are filled in."""

    upgrades: Upgrades = option("upgrades", Upgrades.NEVER)
    """
    Whether the operator may redeploy a job for what it cannot change in place: `never`; `with-state`, where the job's
    `upgradeMode` is `savepoint` or `last-state`; or `always`, which with `stateless` loses the state.
    """

    token_file: Path | None = option("token-file", None)
    """File with a bearer token for the JobManagers, read again after a second so that it may rotate."""

    ca_file: Path | None = option("ca-file", None)
    """Certificates of the JobManagers to trust, PEM; unset: the system's."""

    request_timeout: PositiveDuration = option("request-timeout", timedelta(seconds=10))
    """Time limit of one request, all of it."""

    max_calls_in_flight: Annotated[int, Interval(ge=1)] = option("max-calls-in-flight", 16)
    """Requests to one JobManager that may be open at once."""

    def __post_init__(self) -> None:
        """Refuse what could never reach a job."""
        if not self.name or "/" in self.name:
            message = f"name {self.name!r} must be a text without a slash, as it stands in job keys"
            raise ValueError(message)
        if not self.rest_url.startswith(("http://", "https://")):
            message = f"rest-url of {self.name} does not begin with http:// or https://"
            raise ValueError(message)
        try:
            self.rest_url.format(deployment="", namespace="", port="")
        except (LookupError, ValueError) as error:
            message = (
                f"rest-url of {self.name} has another place than {{deployment}}, {{namespace}} and {{port}}: {error}"
            )
            raise ValueError(message) from error
