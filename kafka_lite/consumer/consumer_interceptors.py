"""Code of the user's that sees records before the user does, and commits when they have succeeded.

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
    """Override what is needed. What a method raises is logged, and the consumer goes on."""

    def configure(self, configs: Mapping[str, object]) -> None:
        """Called once with the consumer's configuration."""

    def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
        """Before ``poll`` returns; what is returned here takes the place of the records."""
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """After a commit has succeeded."""

    def close(self) -> None:
        """Called once, when the consumer closes."""


class ConsumerInterceptors:
    """A chain of them: each sees the records as the one before has left them."""

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
        """Tell all."""
        for interceptor in self._interceptors:
            try:
                interceptor.on_commit(offsets)
            except Exception:
                logger.exception("Error executing interceptor on_commit")

    def close(self) -> None:
        """Close all."""
        for interceptor in self._interceptors:
            try:
                interceptor.close()
            except Exception:
                logger.exception("Failed to close a consumer interceptor")
