"""How several Headgates that share a state store divide the jobs among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration

_PREFIX = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesLeaseOptions(Options):
    """
    Leases as objects of Kubernetes. The states stay in the state store, which all Headgates share.

    Raises:
        ValueError: the prefix cannot begin an object's name.
    """

    enabled: bool = option("enabled", default=False)
    """Whether leases are objects of Kubernetes; else they are rows of the state store."""

    namespace: str = option("namespace", "")
    """Where they are; empty: the namespace of Headgate's own pod, else `default`."""

    prefix: str = option("prefix", "headgate")
    """Of their names. One for each state store: Headgates that share the store share it."""

    kubeconfig: str = option("kubeconfig", "")
    """Empty: the service account of Headgate's own pod, else `$KUBECONFIG`, else the one of the home directory."""

    context: str = option("context", "")
    """Of the kubeconfig; empty: its current one."""

    def __post_init__(self) -> None:
        """Refuse what Kubernetes would."""
        if not _PREFIX.fullmatch(self.prefix):
            message = f"prefix {self.prefix!r} is none. Hint: up to 40 small letters, digits and dashes within"
            raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseOptions(Options):
    """Who of several Headgates that share a state store looks after which jobs."""

    shards: Annotated[int, Interval(ge=1, le=4096)] = option("shards", 64)
    """Into how many parts the jobs are divided, by their keys. The same in every Headgate of one store and clusters."""

    duration: PositiveDuration = option("duration", timedelta(seconds=30))
    """How long the jobs of a Headgate that died wait for another one. It is renewed three times as often."""

    kubernetes: KubernetesLeaseOptions = option("kubernetes", default_factory=KubernetesLeaseOptions)
    """Leases outside of the state store."""
