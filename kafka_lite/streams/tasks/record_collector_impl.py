"""Sends the records of a task with the producer of its thread, or with its own.

Kafka 0.10.2: streams/.../processor/internals/RecordCollectorImpl.java · book 9.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from kafka_lite.common.serialization import Serializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.streams.errors import StreamsError, TaskMigratedError
from kafka_lite.streams.exception_handlers import (
    DefaultProductionExceptionHandler,
    HandlerResponse,
    ProductionExceptionHandler,
)
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner
from kafka_lite.streams.tasks.streams_producer import StreamsProducer, is_fenced

logger = logging.getLogger(__name__)


class RecordCollectorImpl:
    """After the first record that could not be stored, no more offsets are kept, and the next call raises.

    The producer retries by itself, and keeps the order of a partition's records. So an error is final, unless the
    application's ProductionExceptionHandler continues without the record.
    """

    def __init__(
        self,
        producer: KafkaProducer | StreamsProducer,
        task_id: str,
        on_error: ProductionExceptionHandler | None = None,
        on_dropped: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_error`` handles records that could not be stored; by default DefaultProductionExceptionHandler.

        ``on_dropped`` is called, in the producer's thread, for each record that it continues without.
        """
        self._on_dropped = on_dropped
        self._producer = producer
        self._on_error = on_error or DefaultProductionExceptionHandler()
        self._task_id = task_id
        self._offsets: dict[TopicPartition, int] = {}
        self._failure: Exception | None = None
        self._failed: ProducerRecord | None = None

    def send(
        self,
        topic: str,
        key: Any,
        value: Any,
        partition: int | None,
        timestamp: int,
        key_serializer: Serializer[Any],
        value_serializer: Serializer[Any],
        partitioner: StreamPartitioner[Any, Any] | None = None,
    ) -> None:
        """Serialize and queue a record. Raises StreamsError for the failure of an earlier one."""
        if self._failure is not None:
            self._raise_failure()
        raw_key, raw_value = key_serializer.serialize(topic, key), value_serializer.serialize(topic, value)
        if partition is None and partitioner is not None:
            partition = partitioner(key, value, len(self._producer.partitions_for(topic)))
        self._producer.send_bytes(topic, raw_key, raw_value, partition, timestamp, self)

    def flush(self) -> None:
        """Block until all records are stored. Raises StreamsError if one could not be."""
        self._producer.flush()
        self._raise_failure()

    @property
    def offsets(self) -> Mapping[TopicPartition, int]:
        """The offset of the last stored record of each partition."""
        return self._offsets.copy()

    # ── called in the producer's thread ───────────────────────────────────────────────────────────────────────────

    def on_stored(self, topic_partition: TopicPartition, offset: int) -> None:
        """Keep the offset."""
        if self._failure is None:
            self._offsets[topic_partition] = offset

    def on_failed(self, record: ProducerRecord, error: Exception) -> None:
        """Let the handler decide, or fail."""
        if self._failure is not None:
            return
        if not is_fenced(error) and self._on_error.handle(record, error) is HandlerResponse.CONTINUE:
            logger.warning(
                "task [%s] Error sending record (key=[%r] timestamp=[%s]) to topic=[%s] and partition=[%s]; "
                "The exception handler chose to CONTINUE processing in spite of this error: %s",
                self._task_id, record.key, record.timestamp, record.topic, record.partition, error,
            )  # fmt: skip
            self._on_dropped()
            return
        logger.error(
            "task [%s] Error sending record to topic %s. No more offsets will be recorded for this task and the "
            "exception will eventually be thrown: %s",
            self._task_id, record.topic, error,
        )  # fmt: skip
        self._failure, self._failed = error, record

    def _raise_failure(self) -> None:
        if self._failure is not None:
            if is_fenced(self._failure):
                raise TaskMigratedError(self._task_id) from self._failure
            failed = self._failed
            assert failed is not None, "set with the failure"
            raise StreamsError(
                f"task [{self._task_id}] Abort sending since an error caught with a previous record "
                f"(key {failed.key!r} timestamp {failed.timestamp}) to topic {failed.topic} due to {self._failure}"
            ) from self._failure
