"""The user's hooks for records before ``poll`` returns them, and for successful commits.

Kafka 0.10.2: clients/.../consumer/ConsumerInterceptor.java, internals/ConsumerInterceptors.java · book 4.1.6
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecords
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

logger = logging.getLogger(__name__)


class ConsumerInterceptor:
    """Override what you need. An exception in a method is logged, and the consumer continues."""

    def configure(self, configs: Mapping[str, object]) -> None:
        """Called once with the consumer's configuration."""

    def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
        """Called before ``poll`` returns. The result replaces the records."""
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Called after a commit has succeeded."""

    def close(self) -> None:
        """Called once, when the consumer closes."""


class ConsumerInterceptors:
    """A chain of interceptors. Each one gets the records that the previous one returned."""

    def __init__(self, interceptors: Sequence[ConsumerInterceptor] = ()) -> None:
        self._interceptors = interceptors

    def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
        """Pass records through the chain."""
        for interceptor in self._interceptors:
            try:
                records = interceptor.on_consume(records)
            except Exception:
                logger.exception("Error executing interceptor on_consume")
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Notify all interceptors of a commit."""
        for interceptor in self._interceptors:
            try:
                interceptor.on_commit(offsets)
            except Exception:
                logger.exception("Error executing interceptor on_commit")

    def close(self) -> None:
        """Close all interceptors."""
        for interceptor in self._interceptors:
            try:
                interceptor.close()
            except Exception:
                logger.exception("Failed to close a consumer interceptor")
