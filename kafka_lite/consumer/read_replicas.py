"""The replica that each partition is read from: its leader, or a follower that is nearer to the consumer.

Kafka 2.4: clients/.../consumer/internals/SubscriptionState.java (preferredReadReplica), AbstractFetch.java
(selectReadReplica), KIP-392; consumers of 0.10 read from leaders only · book 4.1.4
"""

from __future__ import annotations

import logging

from kafka_lite.clients.cluster import Node
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.fetcher_metrics import FetchManagerMetrics
from kafka_lite.consumer.subscription_state import SubscriptionState

logger = logging.getLogger(__name__)


class ReadReplicas:
    """Follows what the leaders say, for a while::

                          the leader prefers a follower
        leader ────────────────────────────────────────────▶ follower
           ▲                                                    │
           └── the lease is over, an error of the follower, ────┘
               its offset is out of range there, its connection is lost, it is not alive

    The lease ends even if nothing fails: a replica in the consumer's rack may have been added, or the leader may have
    moved there. State is kept with the partition's position, so that it goes with the assignment.
    """

    def __init__(
        self,
        subscriptions: SubscriptionState,
        metadata: Metadata,
        metrics: FetchManagerMetrics,
        lease_ms: float,
        time: Time,
    ) -> None:
        self._subscriptions = subscriptions
        self._metadata = metadata
        self._metrics = metrics
        self._lease_ms = lease_ms
        self._time = time

    def node_of(self, partition: TopicPartition, leader: Node) -> Node:
        """The broker to read the partition from."""
        state = self._subscriptions.state_or_none(partition)
        if state is None or state.read_replica is None:
            return leader
        if self._time.hi_res_ms() > state.read_replica_expires_ms:
            self.clear(partition)
            return leader
        broker_id = state.read_replica
        info = self._metadata.fetch().partition(partition)
        node = next((each for each in info.replicas if each.id == broker_id), None) if info else None
        if node is None:
            logger.debug("Not fetching %s from broker %d: it is not alive, or has no replica", partition, broker_id)
            self._metadata.request_update()
            self.clear(partition)
            return leader
        return node

    def prefer(self, partition: TopicPartition, broker_id: int) -> None:
        """The leader wants the partition to be read from this broker. The same again does not extend the lease."""
        state = self._subscriptions.state_or_none(partition)
        if state is not None and state.read_replica != broker_id:
            state.read_replica = broker_id
            state.read_replica_expires_ms = self._time.hi_res_ms() + self._lease_ms
            self._metrics.record_read_replica(partition, broker_id)
            logger.debug("Reading %s from broker %d for at most %d ms", partition, broker_id, self._lease_ms)

    def clear(self, partition: TopicPartition) -> bool:
        """Read from the leader again; false if that is so already."""
        state = self._subscriptions.state_or_none(partition)
        if state is None or state.read_replica is None:
            return False
        state.read_replica = None
        self._metrics.record_read_replica(partition, None)
        return True
