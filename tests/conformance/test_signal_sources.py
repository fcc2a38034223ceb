"""The signal sources that come with Headgate keep the contract, each against the real system."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from tests.services import kafka, prometheus
from tests.services.kafka import Kafka
from tests.services.prometheus import Prometheus

from headgate.model.samples import Signal
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import Missing, SignalSource
from headgate.signals.http import HttpSource
from headgate.signals.kafka import KafkaSource
from headgate.signals.prometheus import PrometheusSource
from headgate.signals.sql import SqlSource
from headgate.testing.builders import ORDERS, context
from headgate.testing.conformance.signal_source import ABSENT, PRESENT, SignalSourceSuite, SignalStage
from headgate.testing.fake_web import FakeWeb, WebAnswer

RIGHT, WRONG = "${env:RIGHT}", "${env:WRONG}"
NOWHERE = "127.0.0.1:9"
_NUMBERS = count()


def source_options(kind: str, url: str, **others: str) -> SignalSourceOptions:
    """Make a source that is asked anew at each call, and no longer than two seconds."""
    made = SignalSourceOptions(name="there", type=kind, url=url, timeout=timedelta(seconds=2), **others)  # type: ignore[arg-type]
    return replace(made, refresh=timedelta(milliseconds=1))


def signal(name: str, **what: object) -> SignalOptions:
    """Declare a signal of that source."""
    return SignalOptions(name=name, source="there", **what)  # type: ignore[arg-type]


async def missing(source: SignalSource, name: str) -> str:
    """Ask for a signal that cannot be had, and give the reason."""
    found = (await source.query(context(), [name]))[name]
    assert isinstance(found, Missing), found
    return found.why


@pytest.fixture(scope="session")
def prometheus_server() -> Iterator[Prometheus]:
    """Run a real Prometheus."""
    with prometheus.running() as server:
        page = 'depth{job_name="orders"} 42\ncpu{host="a"} 0.5\ncpu{host="b"} 0.7\nodd NaN\n'
        server.expose(page, "depth", 42.0)
        yield server


@pytest.fixture(scope="session")
def kafka_broker() -> Iterator[Kafka]:
    """Run a real Kafka broker."""
    with kafka.running() as broker:
        yield broker


class TestPrometheusSource(SignalSourceSuite):
    """Against a real Prometheus that scrapes a page."""

    SIGNALS = (
        signal(PRESENT, query="depth{job_name=${job}} # of the job's own"),
        signal(ABSENT, query="depth{job_name='somebody else'}"),
        signal("many", query="cpu"),
        signal("mean", query="avg(cpu)"),
        signal("scalar", query="scalar(depth) * 2"),
        signal("nan", query="odd"),
        signal("faulty", query="depth{"),
        signal("matrix", query="depth[1m]"),
        signal("like", query='depth{job_name=~"^${job:regex}$"}'),
    )

    @pytest.fixture
    async def source(self, prometheus_server: Prometheus) -> AsyncIterator[PrometheusSource]:
        """Give a source over it."""
        source = PrometheusSource(source_options("prometheus", prometheus_server.url), self.SIGNALS)
        yield source
        await source.close()

    @pytest.fixture
    def stage(self, source: PrometheusSource) -> SignalStage:
        """The depth of the job's own queue."""
        return SignalStage.of(source, 42.0)

    @pytest.fixture
    async def broken(self) -> AsyncIterator[PrometheusSource]:
        """Nobody listens there."""
        source = PrometheusSource(source_options("prometheus", f"http://{NOWHERE}"), self.SIGNALS)
        yield source
        await source.close()

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            (ABSENT, "the query gives no result"),
            ("many", r"gives 2 results, expected one. Hint: sum\(\) or max\(\) them"),
            ("nan", "the result is nan"),
            ("faulty", "refuses the query: .*parse error"),
            ("matrix", "gives a matrix, expected one number"),
        ],
    )
    async def test_each_failure_has_its_sentence(self, source: PrometheusSource, name: str, why: str) -> None:
        """What cannot be taken for one number is missing, and the operator can tell why."""
        with pytest.raises(AssertionError, match=why):
            raise AssertionError(await missing(source, name))

    async def test_a_faulty_query_spoils_no_other(self, source: PrometheusSource) -> None:
        """They are asked together; refused together, each goes its own way, a scalar among them."""
        for _ in range(2):
            found = await source.query(context(), [one.name for one in self.SIGNALS])
            had = {name: one.value for name, one in found.items() if isinstance(one, Signal)}
            assert had == {PRESENT: 42.0, "mean": pytest.approx(0.6), "scalar": 84.0, "like": 42.0}

    async def test_a_job_named_like_a_query_is_only_a_name(self, source: PrometheusSource) -> None:
        """A name with quotes and braces finds nothing, rather than everybody's series."""
        evil = context(replace(ORDERS, name='x"} or depth or depth{a="'))
        assert await source.query(evil, [PRESENT]) == {PRESENT: Missing(why="the query gives no result")}

    async def test_a_login_is_told_and_a_wrong_one_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Basic authentication, with the password from the environment; the failure does not show it."""
        monkeypatch.setenv("RIGHT", prometheus.PASSWORD)
        monkeypatch.setenv("WRONG", "not-the-password")
        declared = [signal(PRESENT, query="1")]
        with prometheus.running(with_login=True) as server:
            options = source_options("prometheus", server.url, username=prometheus.USER, password=RIGHT)
            right = PrometheusSource(options, declared)
            assert isinstance((await right.query(context(), [PRESENT]))[PRESENT], Signal)
            wrong = PrometheusSource(replace(options, password=WRONG), declared)
            why = await missing(wrong, PRESENT)
            await right.close()
            await wrong.close()
        assert "the credentials are not accepted" in why
        assert "not-the-password" not in why


class TestHttpSource(SignalSourceSuite):
    """Against a real HTTP server."""

    SIGNALS = (
        signal(PRESENT, path="/queues/${job}", query="$.depth"),
        signal(ABSENT, path="/queues/${job}", query="$.width"),
    )

    @pytest.fixture
    async def server(self) -> AsyncIterator[FakeWeb]:
        """Serve one document."""
        async with FakeWeb(WebAnswer(text='{"depth": 7}')) as server:
            yield server

    @pytest.fixture
    async def source(self, server: FakeWeb) -> AsyncIterator[HttpSource]:
        """Give a source over it."""
        source = HttpSource(source_options("http", server.url), self.SIGNALS)
        yield source
        await source.close()

    @pytest.fixture
    def stage(self, source: HttpSource) -> SignalStage:
        """One number of the document."""
        return SignalStage.of(source, 7.0)

    @pytest.fixture
    async def broken(self) -> AsyncIterator[HttpSource]:
        """Nobody listens there."""
        source = HttpSource(source_options("http", f"http://{NOWHERE}"), self.SIGNALS)
        yield source
        await source.close()


class TestSqlSource(SignalSourceSuite):
    """Against an SQLite database."""

    SIGNALS = (
        signal(PRESENT, query="SELECT depth FROM queues WHERE job = :job"),
        signal(ABSENT, query="SELECT depth FROM queues WHERE job = :cluster"),
    )

    @pytest.fixture
    async def source(self, tmp_path: Path) -> AsyncIterator[SqlSource]:
        """Give a source over a table of queues."""
        file = tmp_path / "queues.db"
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("CREATE TABLE queues (job TEXT, depth NUMERIC)")
            connection.execute("INSERT INTO queues VALUES ('orders', 12.5)")
        source = SqlSource(source_options("sql", f"sqlite:///{file}"), self.SIGNALS)
        yield source
        await source.close()

    @pytest.fixture
    def stage(self, source: SqlSource) -> SignalStage:
        """One number of the table."""
        return SignalStage.of(source, 12.5)

    @pytest.fixture
    async def broken(self, tmp_path: Path) -> AsyncIterator[SqlSource]:
        """There is no such file, and none is made."""
        file = tmp_path / "absent.db"
        source = SqlSource(source_options("sql", f"sqlite:///{file}"), self.SIGNALS)
        yield source
        await source.close()
        assert not file.exists()


class TestKafkaSource(SignalSourceSuite):
    """Against a real Kafka broker."""

    @pytest.fixture
    def topic(self, kafka_broker: Kafka) -> str:
        """Give a topic whose group is 6 records behind on one partition and has never committed the other, of 20."""
        name = f"topic-{next(_NUMBERS)}"
        kafka_broker.create(name, 2)
        kafka_broker.produce(name, {0: 10, 1: 20})
        kafka_broker.commit(f"group-of-{name}", name, {0: 4})
        return name

    @pytest.fixture
    def signals(self, topic: str) -> Sequence[SignalOptions]:
        """Declare what is asked of that topic."""
        group = f"group-of-{topic}"
        return (
            signal(PRESENT, group=group, topics=(topic,)),
            signal(ABSENT, group="nobody"),
            signal("committed", group=group),
            signal("unknown-topic", group=group, topics=(topic, "never-made")),
        )

    @pytest.fixture
    async def source(self, kafka_broker: Kafka, signals: Sequence[SignalOptions]) -> AsyncIterator[KafkaSource]:
        """Give a source over the broker."""
        source = KafkaSource(source_options("kafka", kafka_broker.address), signals)
        yield source
        await source.close()

    @pytest.fixture
    def stage(self, source: KafkaSource) -> SignalStage:
        """What was never committed counts from the beginning of the partition."""
        return SignalStage.of(source, 26.0)

    @pytest.fixture
    async def broken(self) -> AsyncIterator[KafkaSource]:
        """Nobody listens there."""
        source = KafkaSource(source_options("kafka", NOWHERE), [signal(PRESENT, group="somebody")])
        yield source
        await source.close()

    async def test_without_topics_what_was_committed_counts(self, source: KafkaSource) -> None:
        """A group is 6 records behind on the one partition that it knows."""
        found = (await source.query(context(), ["committed"]))["committed"]
        assert isinstance(found, Signal)
        assert found.value == 6.0

    async def test_lag_grows_and_shrinks_with_the_group(
        self, source: KafkaSource, kafka_broker: Kafka, topic: str
    ) -> None:
        """As it commits further it is less behind; as more is written, more."""
        group = f"group-of-{topic}"
        kafka_broker.commit(group, topic, {0: 10, 1: 15})
        assert (await source.query(context(), [PRESENT]))[PRESENT].value == 5.0  # type: ignore[union-attr]
        kafka_broker.produce(topic, {0: 100})
        assert (await source.query(context(), [PRESENT]))[PRESENT].value == 105.0  # type: ignore[union-attr]

    async def test_what_is_not_there_is_named(self, source: KafkaSource) -> None:
        """A group without offsets, and a topic that nobody made."""
        assert "group nobody has committed no offsets" in await missing(source, ABSENT)
        assert await missing(source, "unknown-topic") == "there is no topic never-made"

    async def test_a_login_is_told_and_a_wrong_one_is_refused(
        self, kafka_broker: Kafka, signals: Sequence[SignalOptions], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """SASL, with the password from the environment; the failure names the cause and does not show the secret."""
        monkeypatch.setenv("RIGHT", kafka.PASSWORD)
        monkeypatch.setenv("WRONG", "not-the-password")
        security = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
        options = replace(
            source_options("kafka", kafka_broker.secured, username=kafka.USER, password=RIGHT),
            settings=security,
        )
        right = KafkaSource(options, signals)
        assert isinstance((await right.query(context(), [PRESENT]))[PRESENT], Signal)
        wrong = KafkaSource(replace(options, password=WRONG), signals)
        why = await missing(wrong, PRESENT)
        await right.close()
        await wrong.close()
        assert "Invalid username or password" in why
        assert "not-the-password" not in why
