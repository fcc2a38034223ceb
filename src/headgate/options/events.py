"""The options of the event handlers: who is told, where they are, how long events are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration

_REFERENCE = re.compile(r"\$\{(env|file):[^}]+\}")
_OBJECT = re.compile(r"(Deployment|StatefulSet|Pod|Namespace)/[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlEventOptions(Options):
    """The table of events."""

    url: str = option("url", "sqlite:///headgate-events.db", secret=True)
    """Database URL for SQLite, PostgreSQL or MySQL; may hold a secret. The state store's own will do as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEventOptions(Options):
    """
    The receiver of events over HTTP. Secrets come as `${env:NAME}` or `${file:PATH}`.

    Raises:
        ValueError: the URL is none, or the key is written plainly.
    """

    url: str | None = option("url", None, secret=True)
    """Where events are posted to, each as one JSON object; a reference where its path is a secret."""

    secret: str | None = option("secret", None, secret=True)
    """Key of the HMAC-SHA256 signature in `Headgate-Signature`, a reference to a secret; unset: nothing is signed."""

    headers: Mapping[str, str] = option("headers", default_factory=dict, secret=True)
    """Headers added to each request; their values are secrets."""

    ca_file: Path | None = option("ca-file", None)
    """Certificates to trust, PEM; unset: the system's."""

    time_limit: PositiveDuration = option("time-limit", timedelta(seconds=10))
    """Time limit of one delivery, its quick retries included."""

    def __post_init__(self) -> None:
        """Refuse what could never be reached, and what would show a secret."""
        if self.url is not None and not self.url.startswith(("http://", "https://", "${")):
            # The URL is not shown: it may hold a password.
            message = "url does not begin with http:// or https://"
            raise ValueError(message)
        if self.secret and not _REFERENCE.fullmatch(self.secret):
            message = "secret is written plainly. Hint: write ${env:NAME} or ${file:PATH}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesEventOptions(Options):
    """
    The Kubernetes cluster whose Events are made.

    Raises:
        ValueError: the object is no `Kind/name` of a kind that it may be.
    """

    namespace: str = option("namespace", "")
    """Where events are that are about no FlinkDeployment; empty: that of Headgate's own pod, else `default`."""

    object: str = option("object", "")
    """What those are about, `Deployment/`, `StatefulSet/`, `Pod/` or `Namespace/` and a name; empty: Headgate's pod."""

    kubeconfig: str = option("kubeconfig", "")
    """Empty: the service account of Headgate's own pod, else `$KUBECONFIG`, else the one of the home directory."""

    context: str = option("context", "")
    """Of the kubeconfig; empty: its current one."""

    time_limit: PositiveDuration = option("time-limit", timedelta(seconds=10))
    """Time limit of one call of the API."""

    def __post_init__(self) -> None:
        """Refuse what no event can be about."""
        if self.object and not _OBJECT.fullmatch(self.object):
            message = f"object {self.object!r} is none. Hint: write Deployment/headgate, for example"
            raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventOptions(Options):
    """
    Who is told what happens, and for how long it is kept.

    Raises:
        ValueError: `webhook` is chosen and has no URL.
    """

    handlers: tuple[str, ...] = option("handlers", ("log",))
    """Who is told, several at once: `log`, `sql`, `webhook`, `kubernetes`, or the name of a registered plugin."""

    retention: PositiveDuration = option("retention", timedelta(days=30))
    """Age after which `sql` deletes events, counted from their last repetition."""

    queue_capacity: Annotated[int, Interval(ge=1)] = option("queue-capacity", 10_000)
    """Events that may wait for a slow handler, each handler for itself; what comes on top is offered again later."""

    give_up_after: PositiveDuration = option("give-up-after", timedelta(days=1))
    """How long a handler that fails is tried with the same event before the log says that it was not delivered."""

    sql: SqlEventOptions = option("sql", default_factory=SqlEventOptions)
    """The table of events."""

    webhook: WebhookEventOptions = option("webhook", default_factory=WebhookEventOptions)
    """The receiver over HTTP."""

    kubernetes: KubernetesEventOptions = option("kubernetes", default_factory=KubernetesEventOptions)
    """Events of Kubernetes."""

    def __post_init__(self) -> None:
        """Refuse a receiver without an address."""
        if "webhook" in self.handlers and self.webhook.url is None:
            message = "webhook.url is not set, but handlers names webhook"
            raise ValueError(message)
