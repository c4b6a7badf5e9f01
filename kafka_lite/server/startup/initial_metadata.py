"""Waits until the controller has sent a starting broker its metadata and its partitions.

Not in Kafka 0.10.2, whose brokers serve clients from the first moment; brokers of KRaft wait likewise · book 2.3
"""

from __future__ import annotations

import logging

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.metadata_cache import MetadataCache, MetadataSnapshot
from kafka_lite.server.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

METADATA_WAIT_MS = 10_000
"""How long a starting broker waits for the controller's requests about it and its partitions, in ms."""


def await_initial_metadata(broker_id: int, metadata_cache: MetadataCache, replica_manager: ReplicaManager) -> None:
    """Wait until the controller knows this broker and has sent it every partition with a replica here.

    Logs a warning and returns after ``METADATA_WAIT_MS``.
    """

    def is_complete(metadata: MetadataSnapshot) -> bool:
        # The controller sends UpdateMetadata after each LeaderAndIsr, so it is enough to look when metadata changes.
        return broker_id in metadata.alive_brokers and all(
            replica_manager.has_been_told_of(TopicPartition(topic, number))
            for topic, partitions in metadata.partitions.items()
            for number, info in partitions.items()
            if broker_id in info.replicas
        )

    if not metadata_cache.await_snapshot(is_complete, METADATA_WAIT_MS / 1000):
        logger.warning(
            "The controller has not sent this broker all of its partitions within %d ms; starting anyway",
            METADATA_WAIT_MS,
        )
