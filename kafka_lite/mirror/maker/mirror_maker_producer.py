"""The producer that all threads of a mirror share, and its handling of a record that cannot be sent.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (MirrorMakerProducer, MirrorMakerProducerCallback) · book 8.1.2
"""

from __future__ import annotations

import logging
from typing import Protocol

from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.producer.future_record_metadata import FutureRecordMetadata
from kafka_lite.producer.producer_batch import Callback
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata

logger = logging.getLogger(__name__)


class Producer(Protocol):
    """The part of KafkaProducer that a mirror uses."""

    def send(self, record: ProducerRecord, callback: Callback | None = None) -> FutureRecordMetadata:
        """Queue a record."""
        ...

    def flush(self) -> bool:
        """Wait until all records sent so far have completed."""
        ...

    def close(self, timeout_ms: float | None = None) -> None:
        """Close, and give up the records that are not sent within ``timeout_ms``."""
        ...


class MirrorMakerProducer:
    """Sends records to the target cluster. Thread-safe."""

    def __init__(self, producer: Producer, state: MirrorMakerState, *, sync: bool, abort_on_send_failure: bool) -> None:
        """``sync``: wait for each record, as with ``producer.type=sync``."""
        self._producer = producer
        self._state = state
        self._sync = sync
        self.abort_on_send_failure = abort_on_send_failure

    def send(self, record: ProducerRecord) -> None:
        """Queue a record. Blocks while the buffer is full, which may be as long as the target cluster is down.

        Raises ProducerClosedError after a failure; with ``sync``, the error of the record.
        """
        if self._sync:
            self._producer.send(record).get()
            self._state.count_acknowledged()
        else:
            self._producer.send(record, MirrorMakerProducerCallback(self, self._state, record))

    def flush(self) -> None:
        """Wait until every record of every thread is acknowledged, or has failed."""
        self._producer.flush()

    def close(self, timeout_ms: float | None = None) -> None:
        """Close; records that are not sent within ``timeout_ms`` fail."""
        self._producer.close(timeout_ms)


class MirrorMakerProducerCallback:
    """Called with the outcome of a record, usually in the producer's thread.

    The flag is set before the batch counts as complete. So a thread that waits in ``flush`` sees it when the flush
    returns, and does not commit the lost record's offset.
    """

    __slots__ = ("_key_size", "_producer", "_state", "_topic", "_value_size")

    def __init__(self, producer: MirrorMakerProducer, state: MirrorMakerState, record: ProducerRecord) -> None:
        self._producer = producer
        self._state = state
        self._topic = record.topic
        self._key_size = "null" if record.key is None else f"{len(record.key)} bytes"
        self._value_size = "null" if record.value is None else f"{len(record.value)} bytes"

    def __call__(self, _metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Count the record. If it is lost, end the mirror, unless ``abort.on.send.failure`` is false."""
        if error is None:
            self._state.count_acknowledged()
            return
        if not self._state.exiting_on_send_failure:  # the failures that follow from closing the producer say nothing
            logger.error(
                "Error when sending message to topic %s with key: %s, value: %s with error: %s",
                *(self._topic, self._key_size, self._value_size, error),
            )
            if self._producer.abort_on_send_failure:
                self._abort()
        self._state.count_dropped()

    def _abort(self) -> None:
        logger.error("Closing producer due to send failure. No further offset is committed.")
        self._state.exiting_on_send_failure = True
        self._producer.close(0)
