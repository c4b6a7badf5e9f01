"""An exit of a topology: sends records to a topic.

Kafka 0.10.2: streams/.../processor/internals/SinkNode.java · book 9.1.2
"""

from __future__ import annotations

from typing import Any

from kafka_lite.common.serialization import SerializationError, Serializer
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.processor.internals.topology.needs_default_serde import NeedsDefaultSerde
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner


class SinkNode(ProcessorNode):
    """Sends with the time of the record that is being processed. It has no children."""

    def __init__(
        self,
        name: str,
        topic: str,
        key_serializer: Serializer[Any] | None = None,
        value_serializer: Serializer[Any] | None = None,
        partitioner: StreamPartitioner[Any, Any] | None = None,
    ) -> None:
        super().__init__(name)
        self.topic = topic
        self._key_serializer = key_serializer
        self._value_serializer = value_serializer
        self._partitioner = partitioner
        self._context: ProcessorContext | None = None

    def add_child(self, child: ProcessorNode) -> None:
        """Raises TypeError."""
        raise TypeError(f"sink node {self.name} cannot have the child {child.name}")

    def init(self, context: ProcessorContext) -> None:
        """Use the default serdes where no serializer was given."""
        super().init(context)
        self._context = context
        self._key_serializer = self._key_serializer or context.key_serde.serializer
        self._value_serializer = self._value_serializer or context.value_serde.serializer
        if isinstance(self._value_serializer, NeedsDefaultSerde):
            self._value_serializer.use_default(context.value_serde)

    def process(self, key: Any, value: Any) -> None:
        """Send the record. Raises StreamsError if its time is negative, or if a serializer does not fit."""
        context, key_serializer, value_serializer = self._context, self._key_serializer, self._value_serializer
        assert context is not None, "not initialized"
        assert key_serializer is not None, "not initialized"
        assert value_serializer is not None, "not initialized"
        timestamp = context.timestamp
        if timestamp < 0:
            raise StreamsError(f"Invalid (negative) timestamp of {timestamp} for output record <{key}:{value}>.")
        try:
            context.record_collector.send(
                self.topic, key, value, None, timestamp, key_serializer, value_serializer, self._partitioner
            )
        except SerializationError as error:
            raise StreamsError(
                f"A serializer (key: {type(key_serializer).__name__} / value: {type(value_serializer).__name__}) is "
                f"not compatible to the actual key or value type (key type: {type(key).__name__} / value type: "
                f"{type(value).__name__}). Change the default Serdes in StreamConfig or provide correct Serdes via "
                "method parameters."
            ) from error
