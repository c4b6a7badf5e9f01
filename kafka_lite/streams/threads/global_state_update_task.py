"""Puts the records of global topics into their stores.

Kafka 0.10.2: streams/.../processor/internals/GlobalStateUpdateTask.java, GlobalStateMaintainer.java,
GlobalProcessorContextImpl.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.exception_handlers import DeserializationExceptionHandler, LogAndFailExceptionHandler
from kafka_lite.streams.metrics.task_metrics import dropped_records_sensor
from kafka_lite.streams.processor.internals.topology.processor_topology import ProcessorTopology
from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_context_impl import ProcessorContextImpl
from kafka_lite.streams.tasks.record_deserializer import RecordDeserializer
from kafka_lite.streams.tasks.state_manager import StateManager
from kafka_lite.streams.tasks.task_environment import TaskEnvironment

_NO_TASK = TaskId(-1, -1)


class GlobalStateUpdateTask:
    """Like a task, for all partitions of all global topics; without queues, punctuations, commits and sinks."""

    def __init__(
        self,
        topology: ProcessorTopology,
        environment: TaskEnvironment,
        state_manager: StateManager,
        on_bad_record: DeserializationExceptionHandler | None = None,
    ) -> None:
        """``on_bad_record`` handles records that cannot be deserialized; by default LogAndFailExceptionHandler."""
        self._on_bad_record = on_bad_record or LogAndFailExceptionHandler()
        self._dropped = dropped_records_sensor(environment.metrics, _NO_TASK)
        self._topology = topology
        self._state_manager = state_manager
        self._offsets: dict[TopicPartition, int] = {}
        """The last offset of each partition that is in the stores."""
        self._context = ProcessorContextImpl(
            _NO_TASK, environment, _NoCollector(), state_manager, _not_possible, _not_possible
        )

    def initialize(self) -> None:
        """Restore the stores, then initialize the processors. Raises StreamsError."""
        for store in self._topology.state_stores:
            store.init(self._context, store)
        self._context.initialized()
        for node in self._topology.processors:
            self._context.current_node = node
            node.init(self._context)

    def update(self, raw_record: ConsumerRecord) -> None:
        """Process a record. Raises StreamsError if it cannot be deserialized, unless the handler skips it."""
        source = self._topology.source(raw_record.topic)
        record = RecordDeserializer(source, self._on_bad_record, _NO_TASK, self._dropped.record).deserialize(raw_record)
        if record is not None:
            self._context.record_context = ProcessorRecordContext(
                record.timestamp, record.offset, record.partition, record.topic, record.headers
            )
            self._context.current_node = source
            source.process(record.key, record.value)
        self._offsets[TopicPartition(raw_record.topic, raw_record.partition)] = raw_record.offset

    def flush_state(self) -> None:
        """Flush the stores, then checkpoint what they have."""
        self._state_manager.flush()
        self._state_manager.checkpoint(self._offsets)

    def close(self, write_checkpoint: bool = True) -> None:
        """Close the processors, then the stores, with a checkpoint unless something has failed."""
        try:
            for node in self._topology.processors:
                self._context.current_node = node
                node.close()
        finally:
            self._state_manager.close(self._offsets if write_checkpoint else None)


class _NoCollector:
    """Sends nothing: the topic is the changelog, and what every instance processes must not be sent by each."""

    offsets: Mapping[TopicPartition, int] = {}

    def send(self, topic: str, *_: object) -> None:
        _not_possible(topic)

    def flush(self) -> None:
        """A no-op."""


def _not_possible(*_: object) -> NoReturn:
    raise StreamsError("a processor of a global store can neither send, nor schedule, nor commit")
