"""The options of the process refuse what could never work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headgate.options.service import ClusterOptions, LogOptions, Pipeline, Place, ServiceOptions
from headgate.options.serving import Address, IntakeOptions, MetricsOptions


@pytest.mark.parametrize("name", ["", "a/b"])
def test_a_clusters_name_must_fit_into_a_job_key(name: str) -> None:
    """A job key is split at its first slash."""
    with pytest.raises(ValueError, match="without a slash"):
        ClusterOptions(name=name, url="http://a")


@pytest.mark.parametrize("url", ["http://a", "https://a", "${env:URL}"])
def test_a_clusters_address_is_http_or_a_reference(url: str) -> None:
    """What a reference stands for is known only when it is resolved."""
    assert ClusterOptions(name="a", url=url).url == url


def test_another_address_is_refused_without_showing_it() -> None:
    """It may hold a password."""
    with pytest.raises(ValueError, match="url of cluster a does not begin") as raised:
        ClusterOptions(name="a", url="ftp://planted-secret@a")
    assert "planted-secret" not in str(raised.value)


def test_a_client_key_needs_its_certificate() -> None:
    """A certificate alone is enough where the file holds both, a key alone never is."""
    pem = Path("a.pem")
    assert ClusterOptions(name="a", url="http://a", client_certificate=pem).client_certificate == pem
    with pytest.raises(ValueError, match="needs a client-certificate"):
        ClusterOptions(name="a", url="http://a", client_key=pem)


def test_there_is_at_least_one_cluster() -> None:
    """A service with nothing to look after is a mistake."""
    with pytest.raises(ValueError, match="at least one entry"):
        ServiceOptions(clusters=())


def test_each_cluster_has_a_name_of_its_own() -> None:
    """Jobs of two clusters would share their history."""
    twin = ClusterOptions(name="a", url="http://a")
    with pytest.raises(ValueError, match="the name a stands twice"):
        ServiceOptions(clusters=(twin, twin))


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:9464", "127.0.0.1", 9464),
        (":9464", "127.0.0.1", 9464),
        ("0.0.0.0:80", "0.0.0.0", 80),  # noqa: S104 - said by the user
        ("metrics.internal:9464", "metrics.internal", 9464),
        ("[::1]:9464", "::1", 9464),
    ],
)
def test_where_the_metrics_are_served(text: str, host: str, port: int) -> None:
    """This machine only, unless a host is named."""
    address = MetricsOptions(address=text, token="${env:TOKEN}").listen_on  # noqa: S106 - a reference
    assert address == Address(host=host, port=port)
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize("text", ["9464", "localhost", "a:b", "::1:9464", ":0", ":65536", "http://a:9464", ""])
def test_an_address_that_is_none_is_refused(text: str) -> None:
    """With an example."""
    with pytest.raises(ValueError, match=r"is none\. Hint: write host:port"):
        MetricsOptions(address=text)


@pytest.mark.parametrize("kind", [MetricsOptions, IntakeOptions])
def test_what_other_machines_reach_needs_a_token(kind: type[MetricsOptions | IntakeOptions]) -> None:
    """An empty one is none, and everything that is wrong is said at once; this machine needs none."""
    for address in ("0.0.0.0:9464", "metrics.internal:9464", "[::]:9464"):
        with pytest.raises(ValueError, match="is reached from other machines, so token is needed"):
            kind(address=address)
    for address in (":9464", "localhost:9464", "127.0.0.2:9464", "[::1]:9464"):
        assert kind(address=address).token is None
    with pytest.raises(ValueError, match="token is empty") as raised:
        kind(address="9464", token=" ")  # noqa: S106 - none at all
    assert "is none" in str(raised.value)


def test_metrics_are_served_on_this_machine_unless_they_are_not_wanted() -> None:
    """Whoever looks into an incident should find them there."""
    assert MetricsOptions().enabled
    assert str(MetricsOptions().listen_on) == "127.0.0.1:9464"


def test_the_log_may_be_named_by_the_url_of_a_directory() -> None:
    """As Hadoop writes it, with one slash or three."""
    for written in ("file:///var/log/headgate", "file:/var/log/headgate", "/var/log/headgate"):
        assert LogOptions(path=written).directory == Path("/var/log/headgate")
    assert LogOptions(path="a:b").directory == Path("a:b"), "a colon alone makes no URL"


def test_the_log_may_be_in_a_bucket() -> None:
    """Of Amazon's store, or of one with an endpoint of its own."""
    log = LogOptions(path="s3a://bucket/log", endpoint="http://127.0.0.1:9000")
    assert (log.directory, log.told) == (None, "s3a://bucket/log")
    assert LogOptions(path="headgate-log").told == str(Path("headgate-log").absolute())


@pytest.mark.parametrize(
    ("path", "endpoint", "fault"),
    [
        ("hdfs://name/log", None, "path begins with hdfs:, expected a directory, file:///... or s3a://bucket/prefix"),
        ("s3://bucket/log", None, "path begins with s3:, expected"),
        ("s3a:///log", None, "path is another s3a: URL than s3a://bucket/prefix"),
        ("s3a://key:secret@bucket/log", None, "path is another s3a: URL than s3a://bucket/prefix"),
        ("s3a://bucket/log", "http://key:secret@store", "endpoint is none, expected http(s)://host:port"),
        ("headgate-log", "http://127.0.0.1:9000", "endpoint is that of an object store, and path is a directory"),
    ],
)
def test_a_log_that_cannot_be_is_refused(path: str, endpoint: str | None, fault: str) -> None:
    """At the start, with what can be."""
    with pytest.raises(ValueError, match=re.escape(fault)) as raised:
        LogOptions(path=path, endpoint=endpoint)
    assert "secret" not in str(raised.value)


def test_collecting_on_spark_needs_spark() -> None:
    """Not the pipeline without it."""
    cluster = ClusterOptions(name="prod", url="http://127.0.0.1:8081")
    with pytest.raises(ValueError, match=r"collect\.on: spark needs Spark"):
        ServiceOptions(clusters=(cluster,), collect_on=Place.SPARK, pipeline=Pipeline.IN_PROCESS)
