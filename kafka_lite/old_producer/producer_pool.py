"""Keeps a SyncProducer for each leader.

Kafka 0.10.2: core/.../producer/ProducerPool.scala · book 2.2.3
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from kafka_lite.common.errors import KafkaError
from kafka_lite.old_producer.producer_config import ProducerConfig
from kafka_lite.old_producer.producer_request_stats import ProducerRequestStats
from kafka_lite.old_producer.sync_producer import SyncProducer
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponseBroker


class UnavailableProducerError(KafkaError):
    """There is no producer for the broker, because no metadata mentioned it."""


class ProducerPool:
    """Producers by broker id. A broker whose address changes gets a new one."""

    def __init__(self, config: ProducerConfig, stats: ProducerRequestStats | None = None) -> None:
        self._config = config
        self._stats = stats
        self._lock = threading.Lock()
        self._producers: dict[int, SyncProducer] = {}

    def update_producer(self, leaders: Iterable[MetadataResponseBroker]) -> None:
        """Create a producer for each broker in the metadata, without connecting yet."""
        with self._lock:
            for broker in leaders:
                known = self._producers.get(broker.node_id)
                if known is not None and (known.host, known.port) == (broker.host, broker.port):
                    continue
                if known is not None:
                    known.close()
                self._producers[broker.node_id] = create_sync_producer(
                    self._config, broker.host, broker.port, self._stats
                )

    def get_producer(self, broker_id: int) -> SyncProducer:
        """The producer of a broker. Raises UnavailableProducerError."""
        with self._lock:
            found = self._producers.get(broker_id)
        if found is None:
            raise UnavailableProducerError(f"Sync producer for broker id {broker_id} does not exist")
        return found

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for producer in self._producers.values():
                producer.close()


def create_sync_producer(
    config: ProducerConfig, host: str, port: int, stats: ProducerRequestStats | None = None
) -> SyncProducer:
    """A producer for a broker at this address, not connected yet."""
    return SyncProducer(host, port, config["client.id"], config["request.timeout.ms"], stats)
