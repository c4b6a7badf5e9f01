"""Three brokers in this process, for recorded runs. Broker 1 starts first, so it is the controller."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from kafka_learn.recording.run_brokers import TOPIC, connect, wait_until
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kafka_lite.protocol.messages.api_20_delete_topics import DeleteTopicsRequest
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_server import KafkaServer
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

BROKER_IDS = (1, 2, 3)
WAIT_MS = 60_000
_SETTINGS = {
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "num.io.threads": "2",
    "replica.fetch.backoff.ms": "50",
    "controlled.shutdown.enable": "false",
    "controlled.shutdown.max.retries": "0",
}


class RunningBrokers:
    """The brokers of a run."""

    def __init__(self, folder: Path, connect_string: str, settings: Mapping[str, str]) -> None:
        self._folder = folder
        self._settings = {**_SETTINGS, "zookeeper.connect": connect_string, **settings}
        self.servers: dict[int, KafkaServer] = {}
        self._known: dict[int, KafkaServer] = {}

    def start(self, broker_id: int) -> KafkaServer:
        """Start a broker with the files of its last run."""
        settings = {**self._settings, "broker.id": str(broker_id), "log.dirs": str(self._folder / str(broker_id))}
        server = KafkaServer(KafkaConfig(settings))
        self._known[broker_id] = server
        server.startup()
        self.servers[broker_id] = server
        return server

    def stop(self, broker_id: int) -> None:
        """Shut a broker down. It says nothing to the controller, unless controlled shutdown is enabled."""
        self.servers.pop(broker_id).shutdown()

    def know_each_other(self) -> bool:
        """Whether every broker knows all that run."""
        caches = [server.metadata_cache for server in self.servers.values()]
        return all(len(cache.get_alive_brokers()) == len(self.servers) for cache in caches)

    def broker_of(self, zk_client: KafkaZkClient) -> int:
        """The broker that a ZooKeeper client belongs to."""
        found = (number for number, server in self._known.items() if getattr(server, "zk_client", None) is zk_client)
        return next(found, 0)

    def create_topic(self, *replicas: Sequence[int], topic: str = TOPIC) -> None:
        """Create a topic with these replicas for each partition, the first of which leads; wait until all follow."""
        assignments = [
            CreatableReplicaAssignment(partition_index=number, broker_ids=list(each))
            for number, each in enumerate(replicas)
        ]
        new = CreatableTopic(name=topic, num_partitions=-1, replication_factor=-1, assignments=assignments)
        with connect(self.servers[self.controller]) as channel:
            channel.exchange(CreateTopicsRequest(topics=[new], timeout_ms=WAIT_MS), 4)
        for number, each in enumerate(replicas):
            self.wait_until_led(each[0], TopicPartition(topic, number))

    def delete_topic(self, topic: str = TOPIC) -> None:
        """Delete a topic, and wait until it is gone."""
        with connect(self.servers[self.controller]) as channel:
            channel.exchange(DeleteTopicsRequest(topic_names=[topic], timeout_ms=WAIT_MS), 1)

    def wait_until_led(self, leader: int, partition: TopicPartition = TopicPartition(TOPIC, 0)) -> None:  # noqa: B008
        """Wait until a broker leads, and all other live replicas follow it and are known to be at its end."""
        wait_until(lambda: self._is_led(leader, partition), WAIT_MS)

    def _is_led(self, leader: int, topic_partition: TopicPartition) -> bool:
        partition = self.partition(leader, topic_partition)
        if partition is None or partition.leader_replica_if_local is None:
            return False
        live = [replica for replica in partition.assigned_replicas if replica.broker_id in self.servers]
        ends = {replica.log_end_offset.message_offset for replica in live}
        caches = (server.metadata_cache.get_partition_info(topic_partition) for server in self.servers.values())
        return len(ends) == 1 and all(info is not None and info.leader == leader for info in caches)

    def partition(self, broker_id: int, partition: TopicPartition) -> Partition | None:
        """A partition as a broker sees it."""
        return self.servers[broker_id].replica_manager.get_partition(partition)

    @property
    def controller(self) -> int:
        """The active controller. Raises StopIteration between two of them."""
        return next(number for number, server in self.servers.items() if server.controller.is_active)


@contextmanager
def running_brokers(settings: Mapping[str, str] | None = None) -> Iterator[RunningBrokers]:
    """Brokers 1, 2 and 3; their log messages are not shown."""
    folder = Path(tempfile.mkdtemp(prefix="kafka-lite-run-"))
    zookeeper = EmbeddedZooKeeper(folder / "zookeeper", min_session_timeout_ms=500)
    zookeeper.start()
    brokers = RunningBrokers(folder, zookeeper.connect_string, settings or {})
    with quiet("kafka_lite", "state.change.logger"):
        try:
            for broker_id in BROKER_IDS:
                brokers.start(broker_id)
            wait_until(brokers.know_each_other, WAIT_MS)
            yield brokers
        finally:
            for broker_id in list(brokers.servers):
                brokers.stop(broker_id)
            zookeeper.shutdown()
            shutil.rmtree(folder, ignore_errors=True)
