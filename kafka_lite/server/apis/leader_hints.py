"""Tells a client that asks the wrong broker who leads, so that it need not request metadata.

Kafka 3.7: core/.../server/KafkaApis.scala (getCurrentLeader), KIP-951; responses of 0.10 have the error only
· book 2.3.5
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafka_lite.clients.cluster import Node
from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.metadata_cache import MetadataCache, PartitionStateInfo


class LeaderNode(NamedTuple):
    """The leader of a partition as this broker knows it; -1 and -1 if it knows none."""

    leader_id: int
    leader_epoch: int
    node: Node | None
    """Its address on the client's listener, if it is alive and has that listener."""


UNKNOWN_LEADER = LeaderNode(-1, -1, None)

CurrentLeader = Callable[[TopicPartition, str], LeaderNode]
"""The leader of a partition, for clients of a listener."""


class LeaderHints:
    """Looks at the partition itself, if this broker has a replica; otherwise at what the controller has told."""

    def __init__(
        self, partition_of: Callable[[TopicPartition], Partition | None], metadata_cache: MetadataCache
    ) -> None:
        self._partition_of = partition_of
        self._metadata_cache = metadata_cache

    def current_leader(self, topic_partition: TopicPartition, listener_name: str) -> LeaderNode:
        """The leader of the partition."""
        partition = self._partition_of(topic_partition)
        if partition is not None:
            leader_id, epoch = partition.leader_id, partition.leader_epoch
        else:
            info: PartitionStateInfo | None = self._metadata_cache.get_partition_info(topic_partition)
            if info is None:
                return UNKNOWN_LEADER
            leader_id, epoch = info.leader, info.leader_epoch
        return LeaderNode(leader_id, epoch, _node(self._metadata_cache.get_alive_broker(leader_id), listener_name))


def _node(broker: Broker | None, listener_name: str) -> Node | None:
    end_point = broker.get_end_point(listener_name) if broker is not None else None
    if broker is None or end_point is None:
        return None
    return Node(broker.id, end_point.host, end_point.port, broker.rack)
