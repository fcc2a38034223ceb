"""The text that is served says what the library's own would say."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector

from headgate.telemetry.exposition import compressed, exposed
from headgate.telemetry.families import Family, Kind
from headgate.telemetry.labels import Labels

Parse = Callable[[str], Mapping[str, Mapping[tuple[str, ...], float]]]

AWKWARD = 'a "quoted" name, a \\ and\na line end, ü'
GAUGE = Family(name="headgate_gauge", help="One \\ and\ntwo.", labels=("job",))
COUNTER = Family(name="headgate_things_total", help="Things.", kind=Kind.COUNTER)


class Some(Collector):
    """A few families with everything that is awkward."""

    def collect(self) -> list[Metric]:
        """Give them."""
        values = {AWKWARD: 0.1, "infinite": math.inf, "below": -math.inf, "large": 1e21, "small": 1e-7}
        return [
            GAUGE.of((Labels(job=job), value) for job, value in values.items()),
            COUNTER.of([(Labels(), 3)]),
        ]


def test_the_page_reads_as_the_librarys_does(parse: Parse) -> None:
    """Same names, labels and values, whatever stands in them."""
    registry = CollectorRegistry()
    registry.register(Some())
    page = parse(b"".join(exposed(Some().collect())).decode())
    assert page == parse(generate_latest(registry).decode())
    assert page["headgate_gauge"][AWKWARD,] == 0.1
    assert page["headgate_things_total"] == {(): 3}


def test_each_family_says_what_it_is() -> None:
    """Help and type stand once, before the series, and a counter's with its `_total`."""
    text = b"".join(exposed(Some().collect())).decode()
    assert text.startswith("# HELP headgate_gauge One \\\\ and\\ntwo.\n# TYPE headgate_gauge gauge\n")
    assert "# TYPE headgate_things_total counter\nheadgate_things_total 3.0\n" in text


def test_blocks_are_compressed_as_they_come() -> None:
    """Together they are what they were."""
    blocks = [b"some\n" * 100, b"more\n" * 100]
    assert gzip.decompress(b"".join(compressed(blocks))) == b"".join(blocks)
