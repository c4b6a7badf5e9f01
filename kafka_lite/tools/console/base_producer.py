"""The new and the old producer behind one interface, for tools that support both.

Kafka 0.10.2: core/.../producer/BaseProducer.scala (NewShinyProducer, OldProducer),
clients/.../internals/ErrorLoggingCallback.java · book 2.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Protocol

from kafka_lite.old_producer.keyed_message import KeyedMessage
from kafka_lite.old_producer.producer import Producer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata
from kafka_lite.tools.common.tool_errors import ToolError

logger = logging.getLogger(__name__)


class BaseProducer(Protocol):
    """The producer that a tool needs."""

    @property
    def failures(self) -> int:
        """Number of sends that have failed so far."""
        ...

    def send(self, record: ProducerRecord) -> None:
        """Send a record, synchronously or in the background. A synchronous producer raises the error."""
        ...

    def close(self) -> None:
        """Send the remaining records and close the producer."""
        ...


class NewShinyProducer:
    """KafkaProducer; failed sends are logged."""

    def __init__(self, configs: Mapping[str, object], sync: bool = False) -> None:
        self._producer = KafkaProducer(configs)
        self._sync = sync
        self._failures = 0

    @property
    def failures(self) -> int:
        """Number of records that could not be sent."""
        return self._failures

    def send(self, record: ProducerRecord) -> None:
        """Send a record. If ``sync``, wait for its acknowledgement and raise the error if it failed."""
        if self._sync:
            self._producer.send(record).get()
        else:
            self._producer.send(record, partial(self._log_error, record))

    def _log_error(self, record: ProducerRecord, _metadata: RecordMetadata | None, error: Exception | None) -> None:
        if error is not None:
            self._failures += 1
            logger.error(
                "Error when sending message to topic %s with key: %s, value: %s with error: %s",
                record.topic, _size(record.key), _size(record.value), error,
            )  # fmt: skip

    def close(self) -> None:
        """Send the remaining records and close the producer."""
        self._producer.close()


class OldProducer:
    """The old producer; if it is asynchronous, its thread logs failed sends."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self._producer = Producer(configs)

    @property
    def failures(self) -> int:
        """Number of batches (not messages) that could not be sent."""
        return int(self._producer.stats.producer.failed_send_rate.count)

    def send(self, record: ProducerRecord) -> None:
        """Send a message. Raises ToolError if it has headers, which the old format does not support."""
        if record.headers:
            raise ToolError("The old producer cannot send headers: leave out parse.headers, or --old-producer")
        self._producer.send(KeyedMessage(record.topic, record.value, record.key))

    def close(self) -> None:
        """Send the remaining records and close the producer."""
        self._producer.close()


def _size(data: bytes | None) -> str:
    return "null" if data is None else f"{len(data)} bytes"
