"""Clusters of one broker, ours or a real one of 0.10.2.2, which clients reach over a network that can be cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as ClientPartition

from kafka_lite.server.broker_process import SERVER_START, ServerProcess, free_port, write_properties
from kafka_lite.testing.cluster_client import StoredRecord
from kafka_lite.testing.network.tcp_proxy import HOST, Route, TcpProxy
from kafka_lite.testing.network.way import Way
from kafka_lite.testing.process_cluster import ProcessCluster
from tests.support.jvm import classpath, java_command
from tests.support.patience import patient_s
from tests.support.patient_clients import next_message
from tests.support.real_kafka import JARS, OLD, create_topics

OURS = "ours"
SETTINGS = {
    "group.min.session.timeout.ms": "100",
    "offsets.topic.num.partitions": "1",
    "log.cleaner.dedupe.buffer.size": "10485760",
    "auto.create.topics.enable": "false",
}


class FarCluster(ProcessCluster):
    """``kind``: OURS, or OLD for Kafka's 0.10.2.2. Its broker may be killed, and started again."""

    def __init__(self, kind: str, folder: Path) -> None:
        super().__init__(folder, SETTINGS, brokers=1, make=self._make_process)
        self._kind = kind
        self._there, self._back, self._proxy = Way(), Way(), TcpProxy()
        self._port = free_port()
        self.far_port = self._proxy.open(Route("clients", "broker", self._port, self._there, self._back, lambda: False))

    def _make_process(self, folder: Path, settings: Mapping[str, str]) -> ServerProcess:
        addresses = {
            "listeners": f"PLAINTEXT://{HOST}:{self._port}", "advertised.listeners": f"PLAINTEXT://{HOST}:{self.far_port}"
        }  # fmt: skip
        properties = folder / "server.properties"
        write_properties(properties, {**settings, **addresses})
        if self._kind == OURS:
            command = [*SERVER_START, str(properties)]
        else:
            command = java_command("kafka.Kafka", str(properties), classpath=classpath(*JARS[OLD]))
        return ServerProcess(command, self._port, folder / "broker.log")

    @contextmanager
    def running(self) -> Iterator[None]:
        """With its network, until the end of the block."""
        with ExitStack() as stack:
            self._proxy.start()
            stack.callback(self._proxy.shutdown)
            stack.enter_context(self)
            yield

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Let nothing pass between clients and broker until the end of the block."""
        self._set(is_cut=True)
        try:
            yield
        finally:
            self._set(is_cut=False)

    def _set(self, *, is_cut: bool) -> None:
        self._there.is_cut = self._back.is_cut = is_cut
        self._proxy.wake_up()

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic by a request that brokers of 0.10.2 know."""
        create_topics(f"{HOST}:{self._port}", [topic], partitions, {})

    def stored(self, topic: str) -> list[StoredRecord]:
        """All records, as librdkafka reads them, by partition and offset."""
        consumer = Consumer(
            {"bootstrap.servers": self.bootstrap_servers, "group.id": "stored", "enable.auto.commit": False,
             "log_level": 0}
        )  # fmt: skip
        try:
            partitions = consumer.list_topics(topic, patient_s(30)).topics[topic].partitions
            found = [record for number in sorted(partitions) for record in _stored(consumer, topic, number)]
        finally:
            consumer.close()
        return found


def _stored(consumer: Consumer, topic: str, partition: int) -> Iterator[StoredRecord]:
    _, end = consumer.get_watermark_offsets(ClientPartition(topic, partition), timeout=patient_s(30))
    consumer.assign([ClientPartition(topic, partition, 0)])
    position = 0
    while position < end:
        message = next_message(consumer, f"{topic}-{partition}: {position}; the end is {end}")
        assert message.error() is None, message.error()
        position = message.offset() + 1
        yield StoredRecord(partition, message.offset(), message.timestamp()[1], message.key(), message.value())
