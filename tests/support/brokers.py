"""Several brokers in one process, on one embedded ZooKeeper."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from kazoo.client import KazooClient

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from tests.support.eventually import eventually
from tests.support.patience import patient_s
from tests.support.patient_clients import flush, next_message

TP = TopicPartition("orders", 0)


SETTINGS = {
    "offsets.topic.num.partitions": 3,
    "offsets.topic.replication.factor": 3,
    "group.initial.rebalance.delay.ms": 0,
    "replica.lag.time.max.ms": 1000,
    "controlled.shutdown.retry.backoff.ms": 50,  # the last broker finds nobody to hand over to
    "auto.leader.rebalance.enable": "false",  # five seconds after an election, it would move leaders
}


class Brokers(KafkaServers):
    """Brokers 0, 1, …, with what a test asks of them, again until it is so."""

    def __init__(self, folder: Path, zookeeper: EmbeddedZooKeeper) -> None:
        super().__init__(folder, zookeeper.connect_string, SETTINGS)
        self.zookeeper = zookeeper
        self.stack = contextlib.ExitStack()

    def expire_session(self, broker_id: int) -> None:
        """End a broker's session, as after a long pause: take it over, and close it.

        The broker may take it back before it is closed; then it is taken over again.
        """
        zookeeper = self.servers[broker_id].zk_client.zookeeper
        session = zookeeper.session

        def is_closed() -> bool:
            client = KazooClient(self.zookeeper.connect_string, client_id=session)
            client.start()
            client.stop()
            client.close()
            return zookeeper.session != session

        eventually(is_closed)

    @property
    def controller(self) -> int:
        """The id of the active controller."""
        (active,) = eventually(lambda: None if (found := self.active_controller()) is None else (found,))
        return active

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"127.0.0.1:{server.bound_port()}" for server in self.servers.values())

    def partition(self, broker_id: int, topic_partition: TopicPartition = TP) -> Partition:
        """A broker's partition, as soon as the broker has been told of it: one may lead before another knows."""
        return eventually(lambda: self.partition_of(broker_id, topic_partition))

    def log(self, broker_id: int, topic_partition: TopicPartition = TP) -> Log:
        """A broker's log, as soon as it is there."""
        partition = self.partition(broker_id, topic_partition)
        return eventually(lambda: partition.log)

    def leader(self, topic_partition: TopicPartition = TP) -> int:
        """The leader, as soon as there is one and no other believes to be it."""
        (leader,) = eventually(lambda: one if len(one := self.leaders(topic_partition)) == 1 else None)
        return leader

    def leaders(self, topic_partition: TopicPartition = TP) -> list[int]:
        """The brokers that believe to lead: for a moment, an old and a new one."""
        return [broker_id for broker_id in self.servers if self._leads(broker_id, topic_partition)]

    def _leads(self, broker_id: int, topic_partition: TopicPartition) -> bool:
        """Whether a broker, which may not know the partition yet, leads it."""
        partition = self.partition_of(broker_id, topic_partition)
        return partition is not None and partition.leader_replica_if_local is not None

    def isr(self, topic_partition: TopicPartition = TP) -> set[int]:
        in_sync = self.partition(self.leader(topic_partition), topic_partition).in_sync_replicas
        return {replica.broker_id for replica in in_sync}

    def create_topic(
        self, name: str, partitions: int | dict[int, list[int]] = 1, replicas: int = 3, **configs: str
    ) -> None:
        """Create a topic, with these replicas or so many, and wait until its leaders know that they lead."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers})
        config = {key.replace("_", "."): value for key, value in configs.items()}
        if isinstance(partitions, int):
            topic, count = NewTopic(name, partitions, replicas, config=config), partitions
        else:
            assignment = [partitions[number] for number in sorted(partitions)]
            count = len(assignment)
            topic = NewTopic(name, count, replica_assignment=assignment, config=config)
        for future in admin.create_topics([topic]).values():
            future.result(patient_s(30))
        for number in range(count):
            eventually(lambda number=number: self.has_leader(TopicPartition(name, number)))

    def agree(self) -> bool:
        """Whether every broker knows which brokers run and which of them is the controller.

        Before, a client that needs the controller may be sent to one that has stopped, and wait for it.
        """
        known = {server.metadata_cache.controller_id for server in self.servers.values()}
        return self.know_each_other() and known == {self.controller}

    def has_leader(self, topic_partition: TopicPartition) -> bool:
        return any(self._leads(broker_id, topic_partition) for broker_id in self.servers)

    def create_partitions(self, name: str, count: int) -> None:
        """Enlarge a topic."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers})
        for future in admin.create_partitions([NewPartitions(name, count)]).values():
            future.result(patient_s(30))

    def produce(self, *values: str, topic: str = "orders", acks: object = "all") -> list[int]:
        """Send, and return the acknowledged offsets."""
        return produce(self.bootstrap_servers, *values, topic=topic, acks=acks)

    def consume(self, count: int, topic: str = "orders", group: str = "readers") -> list[str]:
        """Read in a group, and commit."""
        consumer = self._consumer(group)
        consumer.subscribe([topic])
        return self._poll(consumer, count, commit=True)

    def read(self, count: int, partition: TopicPartition = TP) -> list[str]:
        """Read a partition from its beginning, without a group."""
        consumer = self._consumer("nobody")
        consumer.assign([Position(*partition, 0)])
        return self._poll(consumer, count, commit=False)

    def _consumer(self, group: str) -> Consumer:
        servers = self.bootstrap_servers
        return Consumer({"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"})

    @staticmethod
    def _poll(consumer: Consumer, count: int, *, commit: bool) -> list[str]:
        found: list[str] = []
        try:
            while len(found) < count:
                message = next_message(consumer, f"{len(found)} of {count}")
                assert message.error() is None, message.error()
                found.append(message.value().decode())
            if commit:
                consumer.commit(asynchronous=False)
        finally:
            consumer.close()
        return found


@contextlib.contextmanager
def three_brokers(folder: Path, **settings: object) -> Iterator[Brokers]:
    """Brokers 0, 1 and 2, stopped at the end with all that are running then."""
    zookeeper = EmbeddedZooKeeper(folder / "zookeeper", min_session_timeout_ms=500)
    zookeeper.start()
    brokers = Brokers(folder, zookeeper)
    try:
        for broker_id in range(3):
            brokers.start(broker_id, **settings)
        eventually(brokers.know_each_other)
        yield brokers
    finally:
        brokers.stop_all()
        zookeeper.shutdown()


def produce(bootstrap_servers: str, *values: str, topic: str, acks: object) -> list[int]:
    """Send with confluent-kafka, and return the acknowledged offsets."""
    offsets: list[int] = []

    def delivered(error: object, message: object) -> None:
        assert error is None, error
        offsets.append(message.offset())  # type: ignore[attr-defined]

    producer = Producer({"bootstrap.servers": bootstrap_servers, "acks": acks, "linger.ms": 0})
    for value in values:
        producer.produce(topic, value, callback=delivered)
    flush(producer)
    return sorted(offsets)
