"""The new and the old producer behind one interface, for a tool that has both.

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
from kafka_lite.tools.tool_errors import ToolError

logger = logging.getLogger(__name__)


class BaseProducer(Protocol):
    """What a tool needs of a producer."""

    @property
    def failures(self) -> int:
        """How many sends have failed so far."""
        ...

    def send(self, record: ProducerRecord) -> None:
        """Send it, or put it on its way; a synchronous producer raises what went wrong."""
        ...

    def close(self) -> None:
        """Send what is left."""
        ...


class NewShinyProducer:
    """KafkaProducer; what cannot be sent is told in the log."""

    def __init__(self, configs: Mapping[str, object], sync: bool = False) -> None:
        self._producer = KafkaProducer(configs)
        self._sync = sync
        self._failures = 0

    @property
    def failures(self) -> int:
        """How many records could not be sent."""
        return self._failures

    def send(self, record: ProducerRecord) -> None:
        """Send a record, and wait for its acknowledgement if ``sync``; raises then what went wrong."""
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
        """Send what is left."""
        self._producer.close()


class OldProducer:
    """The old producer; what an asynchronous one cannot send is told in the log by its thread."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self._producer = Producer(configs)

    @property
    def failures(self) -> int:
        """How many batches could not be sent, whatever the number of their messages."""
        return int(self._producer.stats.producer.failed_send_rate.count)

    def send(self, record: ProducerRecord) -> None:
        """Send a message. Raises ToolError for one with headers: its format has none."""
        if record.headers:
            raise ToolError("The old producer cannot send headers: leave out parse.headers, or --old-producer")
        self._producer.send(KeyedMessage(record.topic, record.value, record.key))

    def close(self) -> None:
        """Send what is left."""
        self._producer.close()


def _size(data: bytes | None) -> str:
    return "null" if data is None else f"{len(data)} bytes"
