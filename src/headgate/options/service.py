"""The options of the Headgate process: clusters, cadence, where the log and the state live."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from headgate.options import kafka
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.bounds import Interval
from headgate.options.declaration import LEGACY_PREFIX, PREFIX, Options, option
from headgate.options.events import EventOptions
from headgate.options.kafka import KafkaClusterOptions
from headgate.options.kubernetes import KubernetesOptions
from headgate.options.launch import LaunchOptions
from headgate.options.lease import LeaseOptions
from headgate.options.plugins import PluginOptions
from headgate.options.prometheus import PrometheusOptions
from headgate.options.reactive import WorkersOptions
from headgate.options.samples import SamplesOptions
from headgate.options.serving import IntakeOptions, MetricsOptions
from headgate.options.signals import SignalOptions, SignalSourceOptions, faults_of
from headgate.options.spark import SparkOptions
from headgate.options.units import PositiveDuration
from headgate.options.yarn import YarnOptions

_TIMEOUT = "flink.rest-client.timeout"
_EVALUATOR = "metrics.custom-evaluator.<name>"
_EXECUTOR = "scaling.custom-executor.<name>"
_ALIGNMENT = "scaling.parallelism-alignment.mode.<name>"


class Mode(StrEnum):
    """Whether Headgate changes anything."""

    ADVISE = "advise"
    ACT = "act"


class LogLevel(StrEnum):
    """From which severity on something is logged."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class Pipeline(StrEnum):
    """Where windows are reduced."""

    SPARK = "spark"
    """On Spark, over the samples log."""
    IN_PROCESS = "in-process"
    """With numpy, over samples kept in memory: for a few jobs, without Java."""


class Place(StrEnum):
    """Where samples are taken."""

    SERVICE = "service"
    """In the process of the service."""
    SPARK = "spark"
    """On the executors of the pipeline's Spark, for fleets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions(Options):
    """
    One Flink cluster: where it is and how to get in. Secrets come as `${env:NAME}` or `${file:PATH}`.

    Raises:
        ValueError: the name cannot stand in a job key, the URL is none, or there is a key without a certificate.
    """

    name: str = option("name")
    """How the cluster is called in job keys, events and the log; no slash."""

    url: str = option("url", secret=True)
    """REST address of the JobManager, for example `http://127.0.0.1:8081`."""

    ca_file: Path | None = option("ca-file", None)
    """Certificates to trust, PEM; unset: the system's."""

    client_certificate: Path | None = option("client-certificate", None)
    """Certificate that Headgate shows, PEM."""

    client_key: Path | None = option("client-key", None)
    """Key of the client certificate, PEM."""

    token_file: Path | None = option("token-file", None)
    """File with a bearer token, read again after a second so that it may rotate."""

    headers: Mapping[str, str] = option("headers", default_factory=dict, secret=True)
    """Headers added to each request; their values are secrets."""

    request_timeout: PositiveDuration = option("request-timeout", timedelta(seconds=10))
    """Time limit of one request, all of it; unset: that of `job.autoscaler.flink.rest-client.timeout`."""

    max_calls_in_flight: Annotated[int, Interval(ge=1)] = option("max-calls-in-flight", 16)
    """Requests to this cluster that may be open at once."""

    workers: WorkersOptions = option("workers", default_factory=WorkersOptions)
    """The cluster's workers, where Headgate may change how many there are."""

    prometheus: PrometheusOptions = option("prometheus", default_factory=PrometheusOptions)
    """A Prometheus server that scrapes this cluster: metrics are read there, and only the graph from Flink's REST."""

    dynamic_configuration: bool = option("dynamic-configuration", default=False)
    """Experimental: ask whether a running job's configuration can be changed (FLIP-530). No Flink up to 2.3 can."""

    def __post_init__(self) -> None:
        """Refuse what could never reach a cluster."""
        if not self.name or "/" in self.name:
            message = f"name {self.name!r} must be a text without a slash, as it stands in job keys"
            raise ValueError(message)
        if not self.url.startswith(("http://", "https://", "${")):
            # The URL is not shown: it may hold a password.
            message = f"url of cluster {self.name} does not begin with http:// or https://"
            raise ValueError(message)
        if self.client_key and not self.client_certificate:
            message = f"client-key of cluster {self.name} needs a client-certificate"
            raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions(Options):
    """Options for the jobs that match."""

    match: str = option("match")
    """A job key `cluster/job`, `*` and `?` allowed; later entries win."""

    autoscaler: AutoscalerOptions = option(
        "autoscaler", default_factory=AutoscalerOptions, aliases=(PREFIX[:-1], LEGACY_PREFIX[:-1])
    )
    """The whole options of these jobs, defaults and general options included."""

    launch: LaunchOptions = option("launch", default_factory=LaunchOptions)
    """What the job is started from: needed where a rescale is a redeploy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions(Options):
    """The samples log."""

    path: str = option("path", "headgate-log")
    """
    Where the Parquet files are: a directory, also as `file:///...`, or `s3a://bucket/prefix`; every machine of Spark
    has to reach it.
    """

    endpoint: str | None = option("endpoint", None)
    """URL of the S3-compatible object store of an `s3a:` path; by default it is Amazon's."""

    retention: PositiveDuration = option("retention", timedelta(days=7))
    """Age after which samples are deleted."""

    compact_after: timedelta = option("compact-after", timedelta(minutes=10))
    """How long after an hour has closed its files are put together."""

    def __post_init__(self) -> None:
        """
        Check where it is.

        Raises:
            ValueError: in no storage that is known, or the endpoint is of another one.
        """
        if self._scheme not in {"", "file", "s3a"}:
            message = f"path begins with {self._scheme}:, expected a directory, file:///... or s3a://bucket/prefix"
            raise ValueError(message)
        # Not quoted: some write their keys into such a URL.
        if self.directory is None and not re.fullmatch(r"s3a://[\w.-]+(/[\w.=-]+)*/?", self.path, re.ASCII):
            message = "path is another s3a: URL than s3a://bucket/prefix, with letters, digits and -_.= in each part"
            raise ValueError(message)
        if self.endpoint is not None and not re.fullmatch(r"https?://[^/@]+/?", self.endpoint):
            message = "endpoint is none, expected http(s)://host:port"
            raise ValueError(message)
        if self.endpoint is not None and self.directory is not None:
            message = "endpoint is that of an object store, and path is a directory. Hint: set path to s3a://..."
            raise ValueError(message)

    @property
    def directory(self) -> Path | None:
        """The directory; None where the log is in an object store."""
        if self._scheme == "file":
            return Path("/", self.path.removeprefix("file:").lstrip("/"))
        return None if self._scheme else Path(self.path)

    @property
    def told(self) -> str:
        """Where it is, in full, for people."""
        return self.path if self.directory is None else str(self.directory.absolute())

    @property
    def _scheme(self) -> str:
        scheme, colon, _ = self.path.partition(":/")
        return scheme if colon and scheme.replace("+", "").isalnum() else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions(Options):
    """Everything `headgate run` needs to know."""

    clusters: tuple[ClusterOptions, ...] = option("clusters", secret=True)
    """The clusters to look after."""

    yarn: tuple[YarnOptions, ...] = option("yarn", (), secret=True)
    """YARN clusters, all of whose Flink applications are looked after."""

    kubernetes: tuple[KubernetesOptions, ...] = option("kubernetes", ())
    """Kubernetes clusters, all of whose FlinkDeployments and FlinkSessionJobs are looked after."""

    spark: tuple[SparkOptions, ...] = option("spark-clusters", (), secret=True)
    """Spark standalone clusters, whose streaming applications are looked after from outside."""

    mode: Mode = option("mode", Mode.ADVISE)
    """`advise` only says what it would do; `act` does it."""

    collect_interval: PositiveDuration = option("collect.interval", timedelta(seconds=10))
    """How often samples are taken."""

    collect_closely: PositiveDuration = option("collect.changing-interval", timedelta(seconds=1))
    """How often samples are taken of a job whose load has just changed, where its `headgate.reaction` is `fast`."""

    collect_on: Place = option("collect.on", Place.SERVICE)
    """`service`, or `spark` to ask the REST interfaces of `clusters` from Spark's executors; all else stays here."""

    decide_interval: PositiveDuration = option("decide.interval", timedelta(seconds=30))
    """How often jobs are evaluated and decided."""

    pipeline: Pipeline = option("pipeline", Pipeline.SPARK)
    """`spark`, or `in-process` for a few jobs without Java."""

    spark_settings: Mapping[str, str] = option("spark.settings", default_factory=dict, secret=True)
    """
    Further settings of Spark by their own names; for 50,000 jobs `spark.driver.memory: 4g`, for example. A value may be
    a secret, `${env:NAME}` or `${file:PATH}`.
    """

    spark_master: str = option("spark.master", "local[*]")
    """Spark master of the pipeline."""

    state_store: str = option("state-store", "sqlite:///headgate.db", secret=True)
    """`memory`, a database URL, or the name of a plugin; the URL may hold a secret."""

    state_retention: PositiveDuration = option("state.retention", timedelta(days=90))
    """
    How long the state store keeps a job that its cluster no longer lists, and a rescale in the history of any job.
    Jobs with a change under way or with orders stay.
    """

    stop_time_limit: PositiveDuration = option("stop.time-limit", timedelta(seconds=30))
    """How long a stop may take, the cycle under way and the closing of everything; then the process ends at once."""

    lease: LeaseOptions = option("lease", default_factory=LeaseOptions)
    """The division of jobs among Headgates that share the state store."""

    log: LogOptions = option("log", default_factory=LogOptions)
    """The samples log."""

    library_log_level: LogLevel = option("logging.libraries.level", LogLevel.WARNING)
    """Of what libraries and asyncio log: from this severity on it stands in Headgate's own log, as lines `library`."""

    samples: SamplesOptions = option("samples", default_factory=SamplesOptions)
    """Where samples come from and go to: collecting and deciding may be two processes with Kafka between them."""

    metrics: MetricsOptions = option("metrics", default_factory=MetricsOptions)
    """Headgate's own metrics and health."""

    agents: IntakeOptions = option("agents", default_factory=IntakeOptions)
    """Reports of agents that are attached to PySpark applications."""

    events: EventOptions = option("events", default_factory=EventOptions)
    """Who is told what happens."""

    autoscaler: AutoscalerOptions = option(
        PREFIX[:-1], default_factory=AutoscalerOptions, aliases=(LEGACY_PREFIX[:-1],)
    )
    """Options of all jobs."""

    request_timeout: PositiveDuration = option(
        f"{PREFIX}{_TIMEOUT}", timedelta(seconds=10), aliases=(f"{LEGACY_PREFIX}{_TIMEOUT}",)
    )
    """Time limit of a request to a cluster that has no `request-timeout` of its own."""

    custom_evaluators: Mapping[str, str] = option(
        f"{PREFIX}{_EVALUATOR}", default_factory=dict, aliases=(f"{LEGACY_PREFIX}{_EVALUATOR}",), secret=True
    )
    """Instances of evaluator plugins: `class`, the name of a registered one, and its parameters."""

    custom_executors: Mapping[str, str] = option(
        f"{PREFIX}{_EXECUTOR}", default_factory=dict, aliases=(f"{LEGACY_PREFIX}{_EXECUTOR}",), secret=True
    )
    """Instances of decision plugins: `class`, the name of a registered one, and its parameters."""

    custom_alignments: Mapping[str, str] = option(
        f"{PREFIX}{_ALIGNMENT}", default_factory=dict, aliases=(f"{LEGACY_PREFIX}{_ALIGNMENT}",), secret=True
    )
    """Instances of alignment modes: `class`, the name of a registered one, and its parameters."""

    plugin_instances: Mapping[str, str] = option("headgate.plugins.<name>", default_factory=dict, secret=True)
    """Instances of plugins of any kind: `class`, the name of a registered one, and its parameters."""

    plugins: PluginOptions = option("plugins", default_factory=PluginOptions)
    """How long plugins may take."""

    signal_sources: tuple[SignalSourceOptions, ...] = option("signal-sources", (), secret=True)
    """Where external metrics are read."""

    signals: tuple[SignalOptions, ...] = option("signals", ())
    """External metrics by name."""

    kafka_clusters: tuple[KafkaClusterOptions, ...] = option("kafka-clusters", (), secret=True)
    """Kafka clusters that jobs read: asked directly, they tell how much really waits and comes in."""

    job_lists: tuple[str, ...] = option("job-lists", ())
    """Plugins that list further jobs; such a job's options name the collector and the realizer that know it."""

    jobs: tuple[JobOptions, ...] = option("jobs", ())
    """Options of some jobs, over the general ones."""

    def __post_init__(self) -> None:
        """Hold the clusters' names apart."""
        names = self.cluster_names
        if not names and not self.job_lists and self.agents.address is None:
            message = "at least one entry in clusters is needed. Hint: `clusters: [{name: local, url: http://127.0.0.1:8081}]`"
            raise ValueError(message)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            message = f"the name {', '.join(twice)} stands twice in clusters"
            raise ValueError(message)
        prefixes = tuple(f"{name}:" for name in self._managed)
        taken = sorted(name for name in names if name.startswith(prefixes))
        if taken:
            message = f"the name {', '.join(taken)} is that of an application on YARN or Kubernetes"
            raise ValueError(message)
        named = {name for each in (self.autoscaler, *(job.autoscaler for job in self.jobs)) for name in each.signals}
        if faults := (*faults_of(self.signal_sources, self.signals, named), *kafka.faults_of(self.kafka_clusters)):
            raise ValueError("\n".join(faults))
        self._refuse_streaming_in_process()
        if self.collect_on is Place.SPARK and self.pipeline is Pipeline.IN_PROCESS:
            message = "collect.on: spark needs Spark. Hint: leave out `pipeline: in-process`"
            raise ValueError(message)

        if self.collect_on is Place.SPARK and self.kafka_clusters:
            message = "kafka-clusters are asked by the service alone. Hint: leave out `collect.on: spark`"
            raise ValueError(message)

    def _refuse_streaming_in_process(self) -> None:
        if self.samples.received and self.pipeline is Pipeline.IN_PROCESS:
            message = "samples.from: kafka needs Spark. Hint: leave out `pipeline: in-process`"
            raise ValueError(message)

    @property
    def _managed(self) -> list[str]:
        """The names of what runs clusters of its own, which are called `<name>:<cluster>`."""
        return [yarn.name for yarn in self.yarn] + [cluster.name for cluster in self.kubernetes]

    @property
    def cluster_names(self) -> list[str]:
        """The names of everything that has jobs, job lists left aside."""
        own = [cluster.name for cluster in self.clusters] + [cluster.name for cluster in self.spark]
        return own + self._managed

    @property
    def staffed(self) -> frozenset[str]:
        """The names of the clusters whose number of workers Headgate changes."""
        workers = {cluster.name: cluster.workers for cluster in self.clusters}
        workers |= {cluster.name: cluster.workers for cluster in self.spark}
        return frozenset(name for name, one in workers.items() if one.provider is not None)
