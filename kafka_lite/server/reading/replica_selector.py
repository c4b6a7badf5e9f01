"""Selects the replica that a consumer should read: by default the leader, or one in the consumer's rack.

Kafka 2.4: clients/.../common/replica/ReplicaSelector.java, RackAwareReplicaSelector.java, ReplicaView.java,
KIP-392; in 0.10 consumers read from leaders only · book 1.3.3
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafka_lite.clients.cluster import Node
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.fetch_params import ClientMetadata

logger = logging.getLogger(__name__)

CLASS_NAME = "replica.selector.class"
JAVA_NAME = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
"""Kafka's name of ``RackAwareReplicaSelector``, which means ours."""


class ReplicaView(NamedTuple):
    """A replica that has the offset that the consumer wants, and is in sync; or the leader."""

    endpoint: Node | None
    """Its broker on the consumer's listener; None if that is dead or lacks the listener."""
    log_end_offset: int
    time_since_last_caught_up_ms: float


class PartitionView(NamedTuple):
    """The replicas to choose from, the leader among them."""

    replicas: Sequence[ReplicaView]
    leader: ReplicaView


class ReplicaSelector(ABC):
    """The interface of ``replica.selector.class``. The leader asks it for each partition of a consumer's fetch."""

    @abstractmethod
    def select(
        self, topic_partition: TopicPartition, client_metadata: ClientMetadata, partition_view: PartitionView
    ) -> ReplicaView | None:
        """The replica that this consumer should read. None, like the leader, lets it read here. Must not block."""

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027  a selector may have no keys
        """Called once with the broker's configuration as it was given."""


class RackAwareReplicaSelector(ReplicaSelector):
    """A consumer reads from a replica in its own rack: from the leader if that is there, else from the longest log.

    Among equal logs the one that has been at the leader's end most recently is chosen. Without a replica in the
    consumer's rack, or without a rack, it is the leader.
    """

    def select(
        self,
        topic_partition: TopicPartition,  # noqa: ARG002
        client_metadata: ClientMetadata,
        partition_view: PartitionView,
    ) -> ReplicaView | None:
        """The replica in the consumer's rack."""
        rack, leader = client_metadata.rack_id, partition_view.leader
        if not rack:
            return leader
        near = [each for each in partition_view.replicas if each.endpoint is not None and each.endpoint.rack == rack]
        if not near or leader in near:
            return leader
        return max(near, key=lambda each: (each.log_end_offset, -each.time_since_last_caught_up_ms))


def load_replica_selector(name: str | None, configs: Mapping[str, object]) -> ReplicaSelector | None:
    """The selector of ``replica.selector.class``, configured; None if there is none.

    Raises ConfigError, and whatever the class raises.
    """
    if not name:
        return None
    selector: ReplicaSelector = (
        RackAwareReplicaSelector() if name == JAVA_NAME else new_instance(CLASS_NAME, ReplicaSelector, name)
    )
    selector.configure(configs)
    logger.info("Consumers read from the replicas that %s selects", name)
    return selector
