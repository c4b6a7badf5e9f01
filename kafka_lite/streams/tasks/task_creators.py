"""Makes the tasks of a stream thread.

Kafka 0.10.2: streams/.../processor/internals/StreamThread.java (AbstractTaskCreator, TaskCreator, StandbyTaskCreator,
createStreamTask, createStandbyTask); Kafka 2.6 has them as ActiveTaskCreator and StandbyTaskCreator · book 9.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.streams.kafka_client_supplier import KafkaClientSupplier
from kafka_lite.streams.metrics.stream_thread_metrics import StreamThreadMetrics
from kafka_lite.streams.metrics.task_metrics import dropped_records_sensor
from kafka_lite.streams.processor.internals.topology.processor_topology import ProcessorTopology
from kafka_lite.streams.processor.state_store import StateStore
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.record_collector_impl import RecordCollectorImpl
from kafka_lite.streams.tasks.standby_state_manager import StandbyStateManager
from kafka_lite.streams.tasks.standby_task import StandbyTask
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.tasks.stream_task import StreamTask, TaskProducer
from kafka_lite.streams.tasks.streams_producer import StreamsProducer
from kafka_lite.streams.tasks.task_environment import TaskEnvironment
from kafka_lite.streams.tasks.thread_producer import SharedProducer, ThreadProducer

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TaskParts:
    """The parts that the tasks of a thread share."""

    thread: str
    """The name of the thread, for its log lines."""
    builder: TopologyBuilder
    config: StreamsConfig
    directory: StateDirectory
    consumer: KafkaConsumer
    restore_consumer: KafkaConsumer
    ends_consumer: KafkaConsumer | None
    """With exactly_once_v2, it sees the ends of changelogs after open transactions."""
    metrics: StreamThreadMetrics
    cache: ThreadCache
    global_stores: Mapping[str, StateStore]
    time: Time

    def new_environment(self) -> TaskEnvironment:
        """The application as a new task sees it. Its serdes are its own."""
        config = self.config
        return TaskEnvironment(
            config.application_id,
            config.key_serde(),
            config.value_serde(),
            self.global_stores,
            self.cache,
            config.originals,
            self.metrics,
        )


class ActiveTaskCreator:
    """Makes tasks that process records."""

    def __init__(
        self,
        parts: TaskParts,
        clients: KafkaClientSupplier,
        thread_client_id: str,
        producer: KafkaProducer | ThreadProducer | None,
    ) -> None:
        """``producer`` is the thread's; None with exactly_once, where each task has its own."""
        self._parts = parts
        self._clients = clients
        self._thread_client_id = thread_client_id
        self._producer = producer

    def create(
        self, task_id: TaskId, partitions: Collection[TopicPartition], standby: StandbyTask | None
    ) -> StreamTask:
        """A task with its stores restored; ``standby`` gives it its own.

        Raises LockError, TaskCorruptedError and StreamsError.
        """
        parts, config = self._parts, self._parts.config
        logger.info("stream-thread [%s] Creating active task %s with %s", parts.thread, task_id, sorted(partitions))
        with ExitStack() as on_error:
            if standby is None:
                topology, positions = parts.builder.build(task_id.topic_group_id), {}
            else:
                on_error.callback(standby.close_state_manager, write_checkpoint=False)
                topology, positions = standby.topology, standby.hand_over()
            state_manager = self._state_manager_of(task_id, partitions, topology, positions)
            on_error.callback(state_manager.close, None)
            producer, transactions = self._producers_of(task_id, on_error)
            dropped = dropped_records_sensor(parts.metrics, task_id)
            handler = config.production_exception_handler()
            task = StreamTask(
                task_id,
                partitions,
                topology,
                parts.new_environment(),
                consumer=parts.consumer,
                record_collector=RecordCollectorImpl(producer, str(task_id), handler, dropped.record),
                state_manager=state_manager,
                timestamp_extractor=config.timestamp_extractor(),
                max_buffered_records=config["buffered.records.per.partition"],
                max_task_idle_ms=config["max.task.idle.ms"],
                producer=transactions,
                on_bad_record=config.deserialization_exception_handler(),
            )
            task.initialize()
            on_error.pop_all()
        return task

    def _state_manager_of(
        self,
        task_id: TaskId,
        partitions: Collection[TopicPartition],
        topology: ProcessorTopology,
        standby_positions: Mapping[TopicPartition, int],
    ) -> ProcessorStateManager:
        parts = self._parts
        return ProcessorStateManager(
            task_id,
            partitions,
            parts.restore_consumer,
            parts.directory,
            topology.store_to_changelog_topic,
            parts.time,
            parts.config.is_exactly_once,
            standby_positions=standby_positions,
            ends_consumer=parts.ends_consumer,
        )

    def _producers_of(
        self, task_id: TaskId, on_error: ExitStack
    ) -> tuple[KafkaProducer | StreamsProducer, TaskProducer | None]:
        """The producer that a task sends with, and the one that commits its transactions. Raises StreamsError."""
        if isinstance(self._producer, ThreadProducer):
            self._producer.init_transactions()
            return self._producer, SharedProducer(self._producer)
        if self._producer is not None:
            return self._producer, None
        config = self._parts.config
        producer = self._clients.get_producer(config.task_producer_configs(self._thread_client_id, task_id))
        own = StreamsProducer(producer, str(task_id), config.application_id)
        on_error.callback(own.close)
        own.init_transactions()
        return own, own


class StandbyTaskCreator:
    """Makes tasks that follow their changelogs."""

    def __init__(self, parts: TaskParts) -> None:
        self._parts = parts

    def create(self, task_id: TaskId, partitions: Collection[TopicPartition]) -> StandbyTask | None:
        """A new task; None if it has no stores. Raises LockError, StreamsError."""
        parts = self._parts
        topology = parts.builder.build(task_id.topic_group_id)
        if not topology.state_stores:
            return None
        logger.info("stream-thread [%s] Creating standby task %s with %s", parts.thread, task_id, sorted(partitions))
        state_manager = StandbyStateManager(
            task_id,
            partitions,
            parts.restore_consumer,
            parts.directory,
            topology.store_to_changelog_topic,
            parts.time,
            parts.config.is_exactly_once,
        )
        with ExitStack() as on_error:
            on_error.callback(state_manager.close, None)
            environment = parts.new_environment()
            task = StandbyTask(
                task_id, partitions, topology, environment, consumer=parts.consumer, state_manager=state_manager
            )
            task.initialize()
            on_error.pop_all()
        return task
