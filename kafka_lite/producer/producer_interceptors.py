"""Code of the user's that sees every record before it is serialized, and again when it is acknowledged.

Kafka 0.10.2: clients/.../producer/ProducerInterceptor.java, internals/ProducerInterceptors.java · book 2.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata

logger = logging.getLogger(__name__)


class ProducerInterceptor:
    """Override what is needed. What a method raises is logged, and the record goes its way."""

    def configure(self, configs: Mapping[str, object]) -> None:
        """Called once with the producer's configuration."""

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """In the thread of the caller of ``send``; the record that is returned takes the place of the one given."""
        return record

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """When the record is acknowledged or has failed; mostly in the producer's thread, so be quick."""

    def close(self) -> None:
        """Called once, when the producer closes."""


class ProducerInterceptors:
    """A chain of them: each sees the record as the one before has left it."""

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
        """Tell all."""
        for interceptor in self._interceptors:
            try:
                interceptor.on_acknowledgement(metadata, error)
            except Exception:
                logger.exception("Error executing interceptor on_acknowledgement")

    def close(self) -> None:
        """Close all."""
        for interceptor in self._interceptors:
            try:
                interceptor.close()
            except Exception:
                logger.exception("Failed to close a producer interceptor")


def _record_of(interceptor: ProducerInterceptor, returned: object) -> ProducerRecord:
    """What an interceptor has returned, if that is a record: to forget the ``return`` is an easy mistake."""
    if not isinstance(returned, ProducerRecord):
        raise TypeError(f"{type(interceptor).__name__}.on_send returned {returned!r}, and not a ProducerRecord")
    return returned
