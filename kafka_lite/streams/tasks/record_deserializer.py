"""Deserializes the records of a source, and asks the application's handler about those that it cannot.

Kafka 1.0: streams/.../processor/internals/RecordDeserializer.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.exception_handlers import DeserializationExceptionHandler, HandlerResponse
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.task_id import TaskId


class RecordDeserializer:
    """Of one source of a task."""

    def __init__(
        self,
        source: SourceNode,
        handler: DeserializationExceptionHandler,
        task_id: TaskId,
        on_dropped: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_dropped`` is called for each record that the handler skips."""
        self._on_dropped = on_dropped
        self._source = source
        self._handler = handler
        self._task_id = task_id

    def deserialize(self, record: ConsumerRecord) -> ConsumerRecord | None:
        """The record with key and value deserialized; None if the handler skips it.

        Raises StreamsError, with the record's topic, partition and offset, if the handler fails.
        """
        try:
            return self._source.deserialize(record)
        except StreamsError as error:
            if self._handler.handle(self._task_id, record, error) is HandlerResponse.CONTINUE:
                self._on_dropped()
                return None
            raise StreamsError(
                f"{error}. Deserialization exception handler is set to fail upon a deserialization error. If you would "
                "rather have the streaming pipeline continue after a deserialization error, please set "
                "default.deserialization.exception.handler appropriately."
            ) from error.__cause__
