"""A private Kafka broker on the loopback: one node without ZooKeeper, from jars that Maven fetches once."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headgate.engines.flink.local.java import Java
from headgate.engines.flink.local.loopback import HOST, free_ports
from headgate.engines.flink.local.maven import maven_jars
from headgate.engines.flink.local.processes import Child, Children
from headgate.errors import UnreachableError

USER, PASSWORD = "reader", "reader-secret"
"""The login of the secured address."""
LIMIT = timedelta(seconds=90)
"""For a start or an order; after a kill the broker waits some seconds for the one that it was."""

_POM = Path(__file__).with_name("broker-pom.xml")
_TAIL = 3000
_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
"""


def broker_jars(java: Java) -> Path:
    """
    Return the directory with the broker's jars.

    Raises:
        PermanentError: there is no Maven, or it cannot fetch them.
    """
    return maven_jars(_POM, java)


class Broker:
    """
    A broker, from when it is entered to when it is left; what it holds outlives its ends in between.

    Attributes:
        address: needs no login.
        secured: asks for the one of `USER`.
    """

    def __init__(self, java: Java, directory: Path) -> None:
        """
        Start nothing yet.

        Args:
            java: what it is to run on.
            directory: exists and is empty; takes all that the broker writes.

        Raises:
            PermanentError: its jars cannot be fetched.
        """
        ports = free_ports(3)
        self.address, self.secured = f"{HOST}:{ports[0]}", f"{HOST}:{ports[2]}"
        self._java = [str(java.executable), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{broker_jars(java)}/*"]
        self._properties = directory / "server.properties"
        self._properties.write_text(_settings(directory, ports))
        self._logging = directory / "log4j2.properties"
        self._logging.write_text(_LOGGING)
        self._output = directory / "kafka.log"
        self._children = Children()
        self._child: Child | None = None
        self._lock = threading.Lock()
        self._over = False

    def __enter__(self) -> Self:
        """Start it for the first time."""
        tool = [*self._java, "kafka.tools.StorageTool"]
        known = subprocess.run([*tool, "random-uuid"], capture_output=True, text=True, check=True)
        format_it = [*tool, "format", "-t", known.stdout.split()[-1], "-c", str(self._properties)]
        subprocess.run(format_it, capture_output=True, check=True)
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        """End it, whatever happened."""
        self.close()

    def close(self) -> None:
        """End it for good: whoever starts it from now on, in whatever thread, is refused."""
        with self._lock:
            self._over = True
        self._children.close()

    def start(self) -> None:
        """
        Start it, with what it holds already, and wait until it answers.

        Raises:
            UnreachableError: it does not, or has ended; the text holds its last words.
        """
        logging = f"-Dlog4j2.configurationFile={self._logging}"
        command = [self._java[0], logging, *self._java[1:], "kafka.Kafka", str(self._properties)]
        with self._lock:
            if self._over:
                message = "the broker has ended for good"
                raise UnreachableError(message)
            child = self._child = self._children.start("kafka", command, environment=os.environ, output=self._output)
        until = time.monotonic() + LIMIT.total_seconds()
        while not self._answers():
            if time.monotonic() > until or not child.running:
                said = self._output.read_text(errors="replace")[-_TAIL:] if self._output.exists() else ""
                message = f"the broker does not answer:\n{said}"
                raise UnreachableError(message)

    def stop(self) -> None:
        """Stop it as an operator would."""
        if self._child is not None:
            self._child.process.terminate()
            self._child.process.wait(LIMIT.total_seconds())

    def kill(self) -> None:
        """End it as a crash would."""
        if self._child is not None:
            self._children.kill(self._child)

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic."""
        admin = self.admin()  # what is asked is given up when its client goes
        admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(LIMIT.total_seconds())

    def admin(self) -> AdminClient:
        """Give a client."""
        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def _answers(self) -> bool:
        try:
            self.admin().list_topics(timeout=1)
        except KafkaException:
            return False
        return True


def _settings(directory: Path, ports: tuple[int, ...]) -> str:
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
        # By default half of the broker's heap.
        "log.cleaner.dedupe.buffer.size": "4194304",
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items())
