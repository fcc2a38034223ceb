"""The Prometheus of a cluster as it is declared, and what is refused."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headgate.config import describe, load
from headgate.errors import ConfigError
from headgate.options.service import ClusterOptions, ServiceOptions

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "read-metrics-from-prometheus.md"


def write(directory: Path, prometheus: str) -> Path:
    """Write a configuration with one cluster that is scraped."""
    file = directory / "headgate.yaml"
    file.write_text(f"clusters: [{{name: prod, url: 'http://flink:8081', prometheus: {{{prometheus}}}}}]")
    return file


def test_the_example_of_the_documentation_is_right(tmp_path: Path) -> None:
    """What people copy is accepted, and says all that may be said."""
    example = PAGE.read_text().partition("<!-- headgate -->\n```yaml\n")[2].partition("```")[0]
    file = tmp_path / "headgate.yaml"
    file.write_text(example)
    (cluster,) = load(file, {}, {}).options.clusters
    assert cluster.prometheus.url == "http://prometheus:9090"
    assert cluster.prometheus.matchers == {"cluster": "eu-1"}
    assert cluster.prometheus.scrape_interval == timedelta(seconds=15)


def test_a_cluster_without_one_is_asked_over_rest() -> None:
    """Nothing changes for who has none."""
    options = ServiceOptions(clusters=(ClusterOptions(name="prod", url="http://flink:8081"),))
    assert options.clusters[0].prometheus.url is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("url: 'prometheus:9090'", "url of prometheus does not begin with http:// or https://"),
        ("url: 'http://p', matchers: {'a-b': c}", "matchers of prometheus hold 'a-b', no name of a label"),
        ("url: 'http://p', scrape-interval: 0 s", "expected a duration, above 0 s"),
        ("url: 'http://p', timeout: soon", "expected a duration, above 0 s"),
        ("address: 'http://p'", "address"),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    """With the place and what was expected."""
    with pytest.raises(ConfigError) as raised:
        load(write(tmp_path, text), {}, {})
    assert fault in str(raised.value)
    assert "headgate.yaml:1: clusters[0]" in str(raised.value)


def test_no_secret_is_shown(tmp_path: Path) -> None:
    """Neither a password in the address nor a header; a reference is shown as it is."""
    file = write(tmp_path, "url: 'http://me:planted@p', headers: {X-Tenant: planted, X-Key: '${env:KEY}'}")
    shown = {each.key: each.value for each in describe(load(file, {}, {}))}
    assert shown["clusters[0].prometheus.url"] == "http://***@p"
    assert "planted" not in str(shown)
    assert "${env:KEY}" in str(shown)
