"""A private Kafka broker on the loopback, one node without ZooKeeper, from the jars that `make services` fetches."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headgate.engines.flink.local.cache import cache_root
from headgate.engines.flink.local.java import find_java
from headgate.engines.flink.local.loopback import HOST, free_ports
from headgate.engines.flink.local.processes import Child, Children

USER, PASSWORD = "reader", "reader-secret"
_PATIENCE_S = 90.0
_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
"""


@dataclass
class Kafka:
    """A running broker; `address` needs no login, `secured` asks for one."""

    address: str
    secured: str
    children: Children
    command: Sequence[str]
    log: Path
    child: Child = field(init=False)

    def start(self) -> None:
        """Start the broker, with what it holds already, and wait until it answers."""
        self.child = self.children.start("kafka", self.command, environment=os.environ, output=self.log)
        self.wait()

    def stop(self) -> None:
        """Stop the broker as an operator would."""
        self.child.process.terminate()
        self.child.process.wait(_PATIENCE_S)

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic."""
        admin = self._admin()  # what is asked is given up when its client goes
        admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(_PATIENCE_S)

    def produce(self, topic: str, records: Mapping[int, int]) -> None:
        """Write so many records to each of these partitions."""
        producer = Producer({"bootstrap.servers": self.address, "log_level": 0})
        for partition, count in records.items():
            for _ in range(count):
                producer.produce(topic, b"record", partition=partition)
        assert producer.flush(_PATIENCE_S) == 0

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets as a consumer of the group would, the only one there is."""
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": group, "log_level": 0})
        try:
            partitions = [TopicPartition(topic, number, offset) for number, offset in offsets.items()]
            consumer.commit(offsets=partitions, asynchronous=False)
        finally:
            consumer.close()

    def wait(self) -> None:
        """Wait until the broker answers."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self._admin().list_topics(timeout=1)
            except KafkaException:
                text = self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""
                assert self.child.running, text
                assert time.monotonic() < until, text
            else:
                return

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})


@contextmanager
def running() -> Iterator[Kafka]:
    """Run a broker as long as needed; skips where its jars or Java are not here."""
    jars = sorted(cache_root().glob("kafka-*"))
    if not jars or shutil.which("java") is None:
        pytest.skip("there are no jars of Kafka in the cache: make services")
    java = [str(find_java().executable), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars[-1]}/*"]
    with TemporaryDirectory(prefix="headgate-kafka-") as folder:
        directory, ports, children = Path(folder), free_ports(3), Children()
        properties, log = directory / "server.properties", directory / "kafka.log"
        properties.write_text(_properties(directory, ports))
        (directory / "log4j2.properties").write_text(_LOGGING)
        _format(java, properties)
        logging = f"-Dlog4j2.configurationFile={directory / 'log4j2.properties'}"
        command = [java[0], logging, *java[1:], "kafka.Kafka", str(properties)]
        try:
            broker = Kafka(f"{HOST}:{ports[0]}", f"{HOST}:{ports[2]}", children, command, log)
            broker.start()
            yield broker
        finally:
            children.close()


def _format(java: list[str], properties: Path) -> None:
    tool = [*java, "kafka.tools.StorageTool"]
    known = subprocess.run([*tool, "random-uuid"], capture_output=True, text=True, check=True)
    cluster = known.stdout.split()[-1]
    subprocess.run([*tool, "format", "-t", cluster, "-c", str(properties)], capture_output=True, check=True)


def _properties(directory: Path, ports: tuple[int, ...]) -> str:
    plain, controller, secured = ports
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAIN://{HOST}:{plain},CONTROLLER://{HOST}:{controller},SECURED://{HOST}:{secured}",
        "advertised.listeners": f"PLAIN://{HOST}:{plain},SECURED://{HOST}:{secured}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAIN:PLAINTEXT,SECURED:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAIN",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secured.plain.sasl.jaas.config": f'{login} user_{USER}="{PASSWORD}";',
        "log.dirs": str(directory / "data"),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items())
