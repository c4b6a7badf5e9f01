"""Three brokers in this process, for recorded runs. Broker 1 starts first, so it is the controller."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from kafka_learn.recording.run_brokers import TOPIC, connect, wait_until
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kafka_lite.protocol.messages.api_20_delete_topics import DeleteTopicsRequest
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

BROKER_IDS = (1, 2, 3)
WAIT_MS = 60_000
_SETTINGS = {"controlled.shutdown.enable": "false", "controlled.shutdown.max.retries": "0"}
"""A broker that stops says nothing to the controller, unless a run is about that."""


class RunningBrokers(KafkaServers):
    """The brokers of a run, with what its scenes do to them."""

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
        partition = self.partition_of(leader, topic_partition)
        if partition is None or partition.leader_replica_if_local is None:
            return False
        live = [replica for replica in partition.assigned_replicas if replica.broker_id in self.servers]
        ends = {replica.log_end_offset.message_offset for replica in live}
        caches = (server.metadata_cache.get_partition_info(topic_partition) for server in self.servers.values())
        return len(ends) == 1 and all(info is not None and info.leader == leader for info in caches)

    @property
    def controller(self) -> int:
        """The active controller. Raises LookupError between two of them."""
        active = self.active_controller()
        if active is None:
            raise LookupError("no broker is the controller at the moment")
        return active


@contextmanager
def running_brokers(settings: Mapping[str, str] | None = None) -> Iterator[RunningBrokers]:
    """Brokers 1, 2 and 3; their log messages are not shown."""
    folder = Path(tempfile.mkdtemp(prefix="kafka-lite-run-"))
    zookeeper = EmbeddedZooKeeper(folder / "zookeeper", min_session_timeout_ms=500)
    zookeeper.start()
    brokers = RunningBrokers(folder, zookeeper.connect_string, {**_SETTINGS, **(settings or {})})
    with quiet("kafka_lite", "state.change.logger"):
        try:
            for broker_id in BROKER_IDS:
                brokers.start(broker_id)
            wait_until(brokers.know_each_other, WAIT_MS)
            yield brokers
        finally:
            brokers.stop_all()
            zookeeper.shutdown()
            shutil.rmtree(folder, ignore_errors=True)
