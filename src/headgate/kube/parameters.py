"""Reads from parameters, texts that the operator wrote, what is to be scaled and how Kubernetes is reached."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from headgate.kube.login import Login
from headgate.kube.scale import Target
from headgate.options.units import parse_duration

NAMES = ("name", "kind", "group", "version", "plural", "namespace", "kubeconfig", "context", "request-timeout")
_KINDS = {"deployment": "deployments", "statefulset": "statefulsets"}
_TIMEOUT = "10 s"


def refuse_unknown(parameters: Mapping[str, str], *further: str) -> None:
    """
    Refuse parameters that nobody reads.

    Raises:
        ValueError: there are some beside `NAMES` and these further ones.
    """
    known = (*NAMES, *further)
    if unknown := sorted(set(parameters) - set(known)):
        message = f"unknown parameter {', '.join(unknown)}. Hint: there is {', '.join(known)}"
        raise ValueError(message)


def target_of(parameters: Mapping[str, str]) -> Target:
    """
    Give what is scaled.

    Args:
        parameters: `name`; `kind`, `Deployment` (the default) or `StatefulSet`, or for anything else `group`,
            `version` and `plural`; `namespace`, by default `default`.

    Raises:
        ValueError: something is missing, or too much.
    """
    named = {key: text.strip() for key, text in parameters.items()}
    name, namespace = named.get("name"), named.get("namespace") or "default"
    if not name:
        message = "parameter name is missing. Hint: that of the Deployment, StatefulSet or custom resource"
        raise ValueError(message)
    own = {part: named.get(part, "") for part in ("group", "version", "plural")}
    if any(own.values()):
        if not all(own.values()) or named.get("kind"):
            message = "group, version and plural belong together, without kind"
            raise ValueError(message)
        return Target(**own, namespace=namespace, name=name)
    kind = named.get("kind") or "Deployment"
    if kind.lower() not in _KINDS:
        message = f"parameter kind is {kind!r}. Hint: Deployment, StatefulSet, or group, version and plural instead"
        raise ValueError(message)
    return Target(group="apps", version="v1", plural=_KINDS[kind.lower()], namespace=namespace, name=name)


def login_of(parameters: Mapping[str, str]) -> Login:
    """
    Give the way to the API.

    Args:
        parameters: `kubeconfig` and `context`, by default those of the pod in which Headgate runs, else those that
            `kubectl` would use; `request-timeout`, by default 10 s.

    Raises:
        ValueError: the time limit is none.
        ConfigError: the client of Kubernetes is not installed.
    """
    limit: timedelta = parse_duration(parameters.get("request-timeout", "").strip() or _TIMEOUT)
    if not limit:
        message = "parameter request-timeout must be above zero"
        raise ValueError(message)
    return Login(
        kubeconfig=parameters.get("kubeconfig", "").strip(),
        context=parameters.get("context", "").strip(),
        time_limit=limit,
    )
