"""Asks the replica selector where a consumer should read a partition that this broker leads.

Kafka 2.4: core/.../server/ReplicaManager.scala (findPreferredReadReplica), KIP-392; in 0.10 consumers read from
leaders only · book 1.3.3
"""

from __future__ import annotations

import logging

from kafka_lite.clients.cluster import Node
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.time import Time
from kafka_lite.server.fetch_params import ClientMetadata
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.reading.replica_selector import PartitionView, ReplicaSelector, ReplicaView

logger = logging.getLogger(__name__)


class ReadReplicaFinder:
    """Shows a selector the replicas that may serve a fetch::

        replica                                                     shown
        ─────────────────────────────────────────────────────────   ─────
        the leader                                                  yes
        in the ISR, its log has the offset, or ends there           yes
        in the ISR, but its log ends before the offset              no: the consumer would be out of range there
        in the ISR, but its log starts behind the offset            no: the same
        not in the ISR                                              no: it may lag more and more

    Offsets of the others are those of their last fetches.
    """

    def __init__(self, selector: ReplicaSelector, metadata_cache: MetadataCache, time: Time) -> None:
        self._selector = selector
        self._metadata_cache = metadata_cache
        self._time = time

    def preferred_read_replica(self, partition: Partition, client: ClientMetadata, fetch_offset: int) -> int | None:
        """The broker that the consumer should read from; None if that is this one, or another one leads."""
        leader = partition.leader_replica_if_local
        if leader is None:
            return None
        now_ms = self._time.hi_res_ms()
        leader_view = ReplicaView(
            self._node(leader.broker_id, client.listener_name), leader.log_end_offset.message_offset, 0
        )
        views = [leader_view]
        for replica in partition.in_sync_replicas:
            end_offset = replica.log_end_offset.message_offset
            if replica is not leader and replica.log_start_offset <= fetch_offset <= end_offset:
                node = self._node(replica.broker_id, client.listener_name)
                views.append(ReplicaView(node, end_offset, now_ms - replica.last_caught_up_time_ms))
        found = self._selector.select(partition.topic_partition, client, PartitionView(views, leader_view))
        if found is None or found == leader_view or found.endpoint is None:
            return None
        logger.debug("Preferred read replica of %s for %s: %d", partition.topic_partition, client, found.endpoint.id)
        return found.endpoint.id

    def _node(self, broker_id: int, listener_name: str) -> Node | None:
        broker = self._metadata_cache.get_alive_broker(broker_id)
        end_point = broker.get_end_point(listener_name) if broker is not None else None
        if broker is None or end_point is None:
            return None
        return Node(broker.id, end_point.host, end_point.port, broker.rack)
