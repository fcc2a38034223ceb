"""The Kafka clusters that jobs read: asked directly, they tell how much waits and how much comes in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from headgate.model.identity import JobKey
from headgate.model.printable import quoted
from headgate.options.declaration import Options, option
from headgate.options.references import refuse_plain
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaClusterOptions(Options):
    """
    One Kafka cluster, and the jobs that read it. Secrets come as `${env:NAME}` or `${file:PATH}`.

    Headgate reads metadata and end offsets: it needs the right to describe the topics, and no other.

    Raises:
        ValueError: the name or the address is empty, or a password is written plainly.
    """

    name: str = option("name")
    """How the cluster is called in events and explanations."""

    url: str = option("url", secret=True)
    """Its brokers, `host:port,host:port`; a few are enough to find the others."""

    match: str = option("match", "*")
    """The jobs that read it, a job key `cluster/job`, `*` and `?` allowed. Topics are found by the jobs' metrics."""

    username: str = option("username", "")
    """Name for SASL."""

    password: str = option("password", "", secret=True)
    """Password that goes with it, a reference to a secret."""

    ca_file: Path | None = option("ca-file", None)
    """Certificates to trust, PEM; unset: the system's."""

    settings: Mapping[str, str] = option("settings", default_factory=dict, secret=True)
    """Further settings of the client (librdkafka), such as `security.protocol`; their values are secrets."""

    refresh: PositiveDuration = option("refresh", timedelta(milliseconds=500))
    """How often offsets are asked for at most; jobs that look at about the same time share an answer."""

    timeout: PositiveDuration = option("timeout", timedelta(seconds=5))
    """Time limit of one call."""

    def __post_init__(self) -> None:
        """Refuse what would show a secret, or could reach nobody."""
        if not self.name or not self.url:
            message = "name and url of a Kafka cluster must not be empty"
            raise ValueError(message)
        refuse_plain(f"Kafka cluster {self.name}", password=self.password)


def example(jobs: Sequence[JobKey]) -> str:
    """Write the line of YAML that declares the brokers of jobs; their addresses are left to be filled in."""
    match = str(jobs[0]) if len(jobs) == 1 else "*"
    return f'kafka-clusters: [{{name: main, url: "broker-1:9092,broker-2:9092", match: {quoted(match)}}}]'


def faults_of(clusters: Sequence[KafkaClusterOptions]) -> Iterator[str]:
    """Name what is wrong with declarations that are well-formed each for itself."""
    names = [cluster.name for cluster in clusters]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"the name {name} stands twice in kafka-clusters"
