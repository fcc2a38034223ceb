"""What a pod of Kubernetes knows of itself: whether Headgate runs in one, its namespace and its name."""

from __future__ import annotations

import socket
from pathlib import Path

_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""Kubernetes puts it there with the account's token."""


def own_namespace(namespace: Path = _NAMESPACE) -> str | None:
    """Give the namespace of the pod in which this process runs; None outside of Kubernetes."""
    return namespace.read_text().strip() if namespace.is_file() else None


def host_name() -> str:
    """Give the name of this host: in a pod, unless it uses the network of its node, the pod's own."""
    return socket.gethostname()
