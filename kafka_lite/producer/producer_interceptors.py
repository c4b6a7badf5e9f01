"""The user's hooks for records before they are serialized, and again when they are acknowledged.

Kafka 0.10.2: clients/.../producer/ProducerInterceptor.java, internals/ProducerInterceptors.java · book 2.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata

logger = logging.getLogger(__name__)


class ProducerInterceptor:
    """Override what you need. An exception in a method is logged, and does not affect the record."""

    def configure(self, configs: Mapping[str, object]) -> None:
        """Called once with the producer's configuration."""

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """Called in the thread that calls ``send``. The result replaces the record."""
        return record

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Called when the record is acknowledged or has failed, usually in the producer's thread. Must be quick."""

    def close(self) -> None:
        """Called once, when the producer closes."""


class ProducerInterceptors:
    """A chain of interceptors. Each one gets the record that the previous one returned."""

    def __init__(self, interceptors: Sequence[ProducerInterceptor]) -> None:
        self._interceptors = interceptors

    def __bool__(self) -> bool:
        return bool(self._interceptors)

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """Pass a record through the chain."""
        for interceptor in self._interceptors:
            try:
                record = _record_of(interceptor, interceptor.on_send(record))
            except Exception:
                logger.exception("Error executing interceptor on_send for topic %s", record.topic)
        return record

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Notify all interceptors."""
        for interceptor in self._interceptors:
            try:
                interceptor.on_acknowledgement(metadata, error)
            except Exception:
                logger.exception("Error executing interceptor on_acknowledgement")

    def close(self) -> None:
        """Close all interceptors."""
        for interceptor in self._interceptors:
            try:
                interceptor.close()
            except Exception:
                logger.exception("Failed to close a producer interceptor")


def _record_of(interceptor: ProducerInterceptor, returned: object) -> ProducerRecord:
    """Check that an interceptor has returned a record, because a missing ``return`` is an easy mistake."""
    if not isinstance(returned, ProducerRecord):
        raise TypeError(f"{type(interceptor).__name__}.on_send returned {returned!r} instead of a ProducerRecord")
    return returned
