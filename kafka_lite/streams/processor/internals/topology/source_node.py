"""The entrance to a topology: deserializes the records of its topics.

Kafka 0.10.2: streams/.../processor/internals/SourceNode.java, SourceNodeRecordDeserializer.java · book 9.1.2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_lite.common.serialization import Deserializer
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.processor.internals.topology.needs_default_serde import NeedsDefaultSerde
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.processor_context import ProcessorContext


class SourceNode(ProcessorNode):
    """Forwards every record to its children."""

    def __init__(
        self,
        name: str,
        topics: Sequence[str],
        key_deserializer: Deserializer[Any] | None = None,
        value_deserializer: Deserializer[Any] | None = None,
    ) -> None:
        super().__init__(name)
        self.topics = tuple(topics)
        self._key_deserializer = key_deserializer
        self._value_deserializer = value_deserializer
        self._context: ProcessorContext | None = None

    def init(self, context: ProcessorContext) -> None:
        """Use the default serdes where no deserializer was given."""
        super().init(context)
        self._context = context
        self._key_deserializer = self._key_deserializer or context.key_serde.deserializer
        self._value_deserializer = self._value_deserializer or context.value_serde.deserializer
        if isinstance(self._value_deserializer, NeedsDefaultSerde):
            self._value_deserializer.use_default(context.value_serde)

    def deserialize(self, record: ConsumerRecord) -> ConsumerRecord:
        """The record with key and value deserialized. Raises StreamsError, with the record's offset, if one fails."""
        assert self._key_deserializer is not None, "not initialized"
        assert self._value_deserializer is not None, "not initialized"
        what = "key"
        try:
            key = self._key_deserializer.deserialize(record.topic, record.key)
            what = "value"
            value = self._value_deserializer.deserialize(record.topic, record.value)
        except Exception as error:
            raise StreamsError(
                f"Failed to deserialize {what} for record. "
                f"topic={record.topic}, partition={record.partition}, offset={record.offset}"
            ) from error
        return record.with_data(key, value)

    def process(self, key: Any, value: Any) -> None:
        """Forward the record."""
        assert self._context is not None, "not initialized"
        self._context.forward(key, value)
        if self._recording is not None:
            self._recording.forwarded()
