"""An active task, which processes records.

Kafka 0.10.2: streams/.../processor/internals/StreamTask.java · book 9.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Protocol

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.streams.errors import MissingSourceTopicError, StreamsError, TaskMigratedError
from kafka_lite.streams.exception_handlers import DeserializationExceptionHandler, LogAndFailExceptionHandler
from kafka_lite.streams.metrics.task_metrics import (
    dropped_records_sensor,
    enforced_processing_sensor,
)
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.internals.topology.processor_topology import ProcessorTopology
from kafka_lite.streams.processor.record_collector import RecordCollector
from kafka_lite.streams.processor.timestamp_extractor import TimestampExtractor
from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.abstract_task import AbstractTask, CommittedOffsets
from kafka_lite.streams.tasks.min_timestamp_tracker import NOT_KNOWN
from kafka_lite.streams.tasks.partition_group import (
    MAX_TASK_IDLE_MS_DISABLED,
    NextRecord,
    PartitionGroup,
)
from kafka_lite.streams.tasks.processor_context_impl import ProcessorContextImpl
from kafka_lite.streams.tasks.punctuation_queue import PunctuationQueue
from kafka_lite.streams.tasks.record_deserializer import RecordDeserializer
from kafka_lite.streams.tasks.record_queue import RecordQueue
from kafka_lite.streams.tasks.state_manager import StateManager
from kafka_lite.streams.tasks.streams_producer import is_one_of
from kafka_lite.streams.tasks.task_environment import TaskEnvironment

logger = logging.getLogger(__name__)

DEFAULT_BUFFERED_RECORDS = 1000


class TaskConsumer(CommittedOffsets, Protocol):
    """The part of the consumer that an active task uses."""

    def pause(self, partitions: Iterable[TopicPartition], /) -> None:
        """Fetch no more records of these partitions."""
        ...

    def resume(self, partitions: Iterable[TopicPartition], /) -> None:
        """Fetch records of these partitions again."""
        ...

    def current_lag(self, partition: TopicPartition, /) -> int | None:
        """How many offsets the position was before the end of the log at the last fetch; None if it is not known."""
        ...

    def commit_sync(self, offsets: Mapping[TopicPartition, OffsetAndMetadata], /) -> None:
        """Commit offsets of the group. Raises ConsumerTimeoutError."""
        ...

    def list_topics(self) -> Mapping[str, object]:
        """All topics, by their names, as the brokers know them now. Raises ConsumerTimeoutError."""
        ...


class TaskProducer(Protocol):
    """The part of a StreamsProducer that a task uses."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def commit_transaction(self, offsets: Mapping[TopicPartition, OffsetAndMetadata], /) -> None:
        """Commit all sent records, and the offsets."""
        ...

    def abort_transaction(self) -> None:
        """Abort the open transaction, if there is one."""
        ...

    def close(self) -> None:
        """Close the producer."""
        ...


class StreamTask(AbstractTask):
    """Buffers records, processes them one at a time by their timestamps, and commits what it has processed.

    ::

        poll ─▶ add_records ─▶ PartitionGroup ─▶ process ─▶ source node ─▶ … ─▶ sink node ─▶ RecordCollector
                                (a RecordQueue per partition)        └──▶ stores ─▶ changelogs ──┘

    The order of a commit makes it at least once: stores are flushed, then all sent records are stored, then the
    checkpoint is written, and only then the offsets are committed. With a producer of its own it is exactly once: the
    offsets are committed in the transaction of the sent records. Used by one thread.
    """

    def __init__(
        self,
        task_id: TaskId,
        partitions: Iterable[TopicPartition],
        topology: ProcessorTopology,
        environment: TaskEnvironment,
        *,
        consumer: TaskConsumer,
        record_collector: RecordCollector,
        state_manager: StateManager,
        timestamp_extractor: TimestampExtractor,
        max_buffered_records: int = DEFAULT_BUFFERED_RECORDS,
        max_task_idle_ms: int = MAX_TASK_IDLE_MS_DISABLED,
        producer: TaskProducer | None = None,
        on_bad_record: DeserializationExceptionHandler | None = None,
    ) -> None:
        """``producer``: with exactly_once, the task's own, which ``record_collector`` sends with; with exactly_once_v2,
        what it sees of its thread's.

        ``on_bad_record`` handles records that cannot be deserialized; by default LogAndFailExceptionHandler.
        ``max_task_idle_ms`` is how long the task waits for new records of an empty partition: see PartitionGroup.
        """
        super().__init__(task_id, partitions, topology, state_manager)
        self._consumer = consumer
        self._collector = record_collector
        self._producer = producer
        self._max_buffered = max_buffered_records
        self._metrics = environment.metrics
        self._dropped = dropped_records_sensor(self._metrics, task_id)
        self._enforced = enforced_processing_sensor(self._metrics, task_id)
        handler = on_bad_record or LogAndFailExceptionHandler()
        queues = {each: self._new_queue(each, timestamp_extractor, handler) for each in sorted(self.partitions)}
        self._partition_group = PartitionGroup(
            queues, lambda each: consumer.current_lag(each), max_task_idle_ms, self._enforced.record
        )
        self.is_idle = False
        """Whether records wait for those of a partition that has none."""
        self._punctuation_queue = PunctuationQueue()
        self._consumed_offsets: dict[TopicPartition, int] = {}
        self._commit_offset_needed = False
        self.commit_needed = False
        """Whether a processor has requested a commit."""
        self._context = ProcessorContextImpl(
            task_id, environment, record_collector, state_manager, self._need_commit, self._punctuation_queue.schedule
        )
        self._commit_time = self._metrics.add_latency_and_throughput_sensor(
            "task", str(task_id), "commit", RecordingLevel.DEBUG, {"streams-task-id": str(task_id)}
        )

    def _new_queue(
        self, partition: TopicPartition, extractor: TimestampExtractor, on_bad_record: DeserializationExceptionHandler
    ) -> RecordQueue:
        source, dropped = self.topology.source(partition.topic), self._dropped.record
        deserializer = RecordDeserializer(source, on_bad_record, self.id, dropped)
        return RecordQueue(partition, source, extractor, deserializer.deserialize, dropped)

    def initialize(self) -> None:
        """Restore the stores, then initialize the processors. Raises StreamsError."""
        self._initialize_offset_limits(self.partitions, self._consumer)
        self._initialize_stores(self._context)
        self._context.initialized()
        self.initialize_topology()

    def initialize_topology(self) -> None:
        """Initialize the processors: at first, and again when a suspended task resumes. Raises StreamsError."""
        logger.info("task [%s] Initializing processor nodes of the topology", self.id)
        for node in self.topology.processors:
            self._context.current_node = node
            try:
                node.init(self._context)
            finally:
                self._context.current_node = None

    # ── records ───────────────────────────────────────────────────────────────────────────────────────────────────

    def add_records(self, partition: TopicPartition, records: Iterable[ConsumerRecord]) -> int:
        """Buffer records. Pauses the partition if more than ``max_buffered_records`` wait.

        Returns how many were added. Raises StreamsError if a record cannot be deserialized and the exception handler
        does not skip it.
        """
        before = self.num_buffered
        if self._partition_group.add_raw_records(partition, records) > self._max_buffered:
            self._consumer.pause([partition])
        return self.num_buffered - before

    @property
    def num_buffered(self) -> int:
        """The number of records that wait."""
        return self._partition_group.num_buffered

    @property
    def requires_poll(self) -> bool:
        """Whether the queue that the next record comes from has room for more, or another one needs some."""
        return self.is_idle or self._partition_group.top_queue_size <= self._max_buffered

    def update_lags(self) -> None:
        """The consumer has polled: a partition without records may have got some, or be known to have none."""
        self._partition_group.update_lags()

    def process(self, now_ms: float = 0) -> bool:
        """Process the next record. Returns False if there was none, or it has to wait. ``now_ms`` is monotonic.

        Raises StreamsError, with the record's offset, for an error of Kafka; errors of a processor as they are.
        """
        group = self._partition_group
        self.is_idle = not group.ready_to_process(now_ms) and group.num_buffered > 0
        following = None if self.is_idle else group.next_record()
        if following is None:
            return False
        self._process(following)
        self._consumed_offsets[following.queue.partition] = following.stamped.record.offset
        self._commit_offset_needed = True
        self._make_room(following.queue)
        return True

    def _process(self, following: NextRecord) -> None:
        record, timestamp = following.stamped
        context, source = self._context, following.queue.source
        context.record_context = ProcessorRecordContext(
            timestamp, record.offset, record.partition, record.topic, record.headers
        )
        context.current_node = source
        try:
            source.process(record.key, record.value)
        except TaskMigratedError:
            raise
        except KafkaError as error:
            raise StreamsError(
                f"Exception caught in process. taskId={self.id}, processor={source.name}, topic={record.topic}, "
                f"partition={record.partition}, offset={record.offset}: {error}"
            ) from error
        finally:
            context.current_node = None

    def _make_room(self, queue: RecordQueue) -> None:
        """Resume a partition whose queue has come down to the limit."""
        if len(queue) == self._max_buffered:
            self._consumer.resume([queue.partition])

    # ── punctuation ───────────────────────────────────────────────────────────────────────────────────────────────

    def maybe_punctuate(self) -> bool:
        """Punctuate what is due at the current stream time. Returns whether there was anything."""
        if not self._punctuation_queue.has_schedules:
            return False
        timestamp = self._partition_group.timestamp
        return timestamp != NOT_KNOWN and self._punctuation_queue.may_punctuate(timestamp, self._punctuate)

    def _punctuate(self, node: ProcessorNode, timestamp: int) -> None:
        context = self._context
        context.record_context = ProcessorRecordContext(timestamp)
        context.current_node = node
        try:
            node.punctuate(timestamp)
        except TaskMigratedError:
            raise
        except KafkaError as error:
            raise StreamsError(f"Exception caught in punctuate. taskId={self.id} processor={node.name}") from error
        finally:
            context.current_node = None

    # ── committing ────────────────────────────────────────────────────────────────────────────────────────────────

    def _need_commit(self) -> None:
        self.commit_needed = True

    def commit(self) -> None:
        """Flush and checkpoint everything, then commit the offsets of the processed records.

        With exactly_once, only a clean close writes a checkpoint: after a crash the stores may have changes that were
        never committed.
        """
        self._metrics.measure_latency_ns(self._commit, self._commit_time)

    def _commit(self) -> None:
        self.flush_state()
        if self._producer is None:
            self._state_manager.checkpoint(self._checkpointable_offsets())
        self.commit_offsets()

    def flush_state(self) -> None:
        """Flush the stores, then wait until all sent records are stored."""
        self._state_manager.flush()
        self.flush_sent()

    def flush_sent(self) -> None:
        """Wait until all sent records are stored."""
        self._collector.flush()

    def commit_offsets(self) -> None:
        """Commit the offsets of the processed records, if there are new ones, and the open transaction.

        Raises MissingSourceTopicError if that takes too long because a source topic was deleted.
        """
        if self.has_uncommitted:
            commit = self._consumer.commit_sync if self._producer is None else self._producer.commit_transaction
            offsets = self.committable_offsets()
            try:
                commit(offsets)
            except KafkaError as error:
                self._ensure_source_topics(offsets, error)
                raise
        self.committed()

    def _ensure_source_topics(self, offsets: Iterable[TopicPartition], error: KafkaError) -> None:
        """A commit has failed. A deleted topic accepts none: coordinators respond to each try that they do not know it.

        Raises MissingSourceTopicError.
        """
        if is_one_of(error, (Errors.REQUEST_TIMED_OUT,)):
            missing = {partition.topic for partition in offsets}.difference(self._consumer.list_topics())
            if missing:
                raise MissingSourceTopicError(missing) from error

    def committable_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The offsets after the processed records."""
        offsets = {partition: offset + 1 for partition, offset in self._consumed_offsets.items()}
        for partition, offset in offsets.items():
            self._state_manager.put_offset_limit(partition, offset)
        return {partition: OffsetAndMetadata(offset) for partition, offset in offsets.items()}

    def committed(self) -> None:
        """Note that all processed records are committed."""
        self._commit_offset_needed = False
        self.commit_needed = False

    @property
    def has_uncommitted(self) -> bool:
        """Whether records were processed, or sent in a transaction, since the last commit."""
        return self._commit_offset_needed or (self._producer is not None and self._producer.in_transaction)

    @property
    def is_dirty(self) -> bool:
        """Whether, with exactly_once, its stores have changes that may be aborted."""
        return self._producer is not None and self.has_uncommitted

    def _checkpointable_offsets(self) -> dict[TopicPartition, int]:
        """The last offsets of changelogs: those of sent records; of a source topic that serves as one, those read."""
        return {**self._consumed_offsets, **self._collector.offsets}

    # ── closing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def close_topology(self, flush: bool = True) -> None:
        """Drop all buffered records and close the processors. Raises the last error of one, after all are closed.

        With ``flush``, the processors first get what is in the caches. (0.10.2 flushes after it has closed them.)
        """
        self._partition_group.clear()
        self.is_idle = False
        self._punctuation_queue.clear()
        try:
            if flush:
                self._state_manager.flush()
        finally:
            self._close_processors()

    def _close_processors(self) -> None:
        failure: StreamsError | None = None
        for node in self.topology.processors:
            self._context.current_node = node
            try:
                node.close()
            except StreamsError as error:
                failure = error
            finally:
                self._context.current_node = None
        if failure is not None:
            raise failure

    def close_state_manager(self, write_checkpoint: bool) -> None:
        """Close the stores, with a checkpoint unless something has failed. Abort what was not committed."""
        try:
            self._state_manager.close(self._checkpointable_offsets() if write_checkpoint else None)
        finally:
            for sensor in (self._commit_time, self._dropped, self._enforced):
                self._metrics.remove_sensor(sensor)
            if self._producer is not None:
                self._producer.abort_transaction()
                self._producer.close()
