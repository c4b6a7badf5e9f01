"""Runs a topology without a broker, for tests.

Kafka 0.10.2: streams/src/test/.../test/ProcessorTopologyTestDriver.java · book 9.1.1
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from kafka_lite.common.serdes import ByteArraySerde, Serde
from kafka_lite.common.serialization import Deserializer, SerializationError, Serializer
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.processor.internals.topology.processor_topology import ProcessorTopology
from kafka_lite.streams.processor.state_store import IN_MEMORY, StateRestoreCallback, StateStore
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner
from kafka_lite.streams.processor.timestamp_extractor import FailOnInvalidTimestamp, TimestampExtractor
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.state_manager import StateManager
from kafka_lite.streams.tasks.stream_task import StreamTask
from kafka_lite.streams.tasks.task_environment import TaskEnvironment
from kafka_lite.streams.threads.global_state_update_task import GlobalStateUpdateTask

K = TypeVar("K")
V = TypeVar("V")

_CLIENT_ID = "TopologyTestDriver"


class TopologyTestDriver:
    """One task for each sub-topology; every topic has one partition.

    ::

        with TopologyTestDriver(builder, key_serde=Serdes.string(), value_serde=Serdes.string()) as driver:
            driver.pipe_input("text", "1", "to be or not to be", timestamp=1000)
            assert driver.read_output("word-counts").value == ...

    A record is processed at once, with all that follows from it, and then committed, unless there are caches. Records
    that are sent to a topic with a source are processed, too, as a repartition topic's. All sent records can be read,
    including those of changelogs.
    """

    def __init__(
        self,
        builder: TopologyBuilder,
        *,
        application_id: str = "test",
        key_serde: Serde[Any] | None = None,
        value_serde: Serde[Any] | None = None,
        timestamp_extractor: TimestampExtractor | None = None,
        topics: Iterable[str] = (),
        time: MockTime | None = None,
        cache_max_bytes_buffering: int = 0,
        default_dsl_store: str = IN_MEMORY,
        metrics: Metrics | None = None,
    ) -> None:
        """The default serdes are those of bytes. ``topics`` are the existing topics, for sources with a pattern.

        ``time`` gives records without a timestamp theirs. With record caches, what is processed is committed by
        ``commit`` only. ``default_dsl_store`` is that of StreamsConfig. ``metrics`` gets those of the tasks; the tag
        ``client-id`` is ``TopologyTestDriver``. Raises StreamsError if a processor fails.
        """
        self._time = time or MockTime()
        self._key_serde: Serde[Any] = key_serde or ByteArraySerde()
        self._value_serde: Serde[Any] = value_serde or ByteArraySerde()
        self._commits_each = cache_max_bytes_buffering == 0
        self._sent: deque[tuple[int, ProducerRecord]] = deque()
        self._outputs: dict[str, deque[ProducerRecord]] = {}
        self._end_offsets: dict[str, int] = {}
        self.committed: dict[TopicPartition, int] = {}
        """The committed offsets."""
        builder.set_application_id(application_id).set_dsl_store(default_dsl_store)
        builder.set_cache_size(cache_max_bytes_buffering)
        builder.update_subscriptions(topics)
        measured = StreamsMetricsImpl(metrics or Metrics(time=self._time), {"client-id": _CLIENT_ID}, self._time)
        cache = ThreadCache(_CLIENT_ID, cache_max_bytes_buffering, measured)
        environment = TaskEnvironment(application_id, self._key_serde, self._value_serde, cache=cache, metrics=measured)
        self._global_topics = builder.global_topics
        self._global_stores: dict[str, StateStore] = {}
        self._global_task = self._start_global_task(builder.build_global_state_topology(), environment)
        self._tasks: dict[str, StreamTask] = {}
        environment = replace(environment, global_stores=self._global_stores)
        for group in builder.topic_groups():
            extractor = timestamp_extractor or FailOnInvalidTimestamp()
            self._start_task(TaskId(group, 0), builder.build(group), environment, extractor)
        self._take_sent()

    def _start_global_task(
        self, topology: ProcessorTopology | None, environment: TaskEnvironment
    ) -> GlobalStateUpdateTask | None:
        """The task of the global stores; None if there are none."""
        if topology is None:
            return None
        task = GlobalStateUpdateTask(topology, environment, _EmptyStores())
        task.initialize()
        self._global_stores.update({store.name: store for store in topology.state_stores})
        return task

    def _start_task(
        self, task_id: TaskId, topology: ProcessorTopology, environment: TaskEnvironment, extractor: TimestampExtractor
    ) -> None:
        """The task of a sub-topology."""
        task = StreamTask(
            task_id,
            [TopicPartition(topic, 0) for topic in topology.source_by_topic],
            topology,
            environment,
            consumer=_Committer(self.committed),
            record_collector=_Captured(self._sent, self._end_offsets),
            state_manager=_EmptyStores(),
            timestamp_extractor=extractor,
        )
        task.initialize()
        self._tasks.update(dict.fromkeys(topology.source_by_topic, task))

    def pipe_input(
        self,
        topic: str,
        key: Any,
        value: Any,
        *,
        timestamp: int | None = None,
        key_serializer: Serializer[Any] | None = None,
        value_serializer: Serializer[Any] | None = None,
    ) -> None:
        """Process a record and all that follows from it. The default serializers are those of the default serdes.

        ``timestamp`` is in ms since the epoch. Raises ValueError if no source reads the topic, StreamsError, and
        SerializationError for a key or value of another type.
        """
        if topic not in self._tasks and topic not in self._global_topics:
            raise ValueError(f"no source reads topic {topic!r}; sources read {sorted(self._tasks)}")
        try:
            raw_key = (key_serializer or self._key_serde.serializer).serialize(topic, key)
            raw_value = (value_serializer or self._value_serde.serializer).serialize(topic, value)
        except SerializationError as error:
            what = "The driver's key_serde and value_serde must fit what is piped"
            raise SerializationError(f"{what}, if pipe_input gets no serializers: {error}") from error
        offset = self._end_offsets.get(topic, 0)
        self._end_offsets[topic] = offset + 1
        self._process(topic, offset, raw_key, raw_value, self._time.milliseconds() if timestamp is None else timestamp)
        self._take_sent()

    def commit(self) -> None:
        """Flush the caches of all tasks, with all that follows from it, and commit what has been processed."""
        for task in dict.fromkeys(self._tasks.values()):
            task.commit()
            self._take_sent()

    def read_output(
        self,
        topic: str,
        key_deserializer: Deserializer[Any] | None = None,
        value_deserializer: Deserializer[Any] | None = None,
    ) -> ProducerRecord | None:
        """Remove and return the next record that was sent to a topic; None if there is none.

        The default deserializers are those of the default serdes.
        """
        records = self._outputs.get(topic)
        if not records:
            return None
        record = records.popleft()
        return ProducerRecord(
            topic,
            (value_deserializer or self._value_serde.deserializer).deserialize(topic, record.value),
            (key_deserializer or self._key_serde.deserializer).deserialize(topic, record.key),
            record.partition,
            record.timestamp,
        )

    @property
    def produced_topic_names(self) -> list[str]:
        """The topics to which records were sent, in the order of their first ones. (Kafka 2.7.)"""
        return list(self._outputs)

    def state_store(self, name: str) -> StateStore:
        """A store. Raises KeyError."""
        if name in self._global_stores:
            return self._global_stores[name]
        for task in self._tasks.values():
            if (store := task.store(name)) is not None:
                return store
        raise KeyError(f"no store {name!r}: is it the name that the topology gives it?")

    def key_value_store(self, name: str) -> KeyValueStore[Any, Any]:
        """A key-value store. Raises KeyError, and TypeError for a store of another kind."""
        store = self.state_store(name)
        if not isinstance(store, KeyValueStore):
            raise TypeError(f"store {name} is a {type(store).__name__}, not a KeyValueStore")
        return store

    def close(self) -> None:
        """Close the processors and stores."""
        for task in dict.fromkeys(self._tasks.values()):
            task.close_topology()
            task.close_state_manager(write_checkpoint=True)
        if self._global_task is not None:
            self._global_task.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take_sent(self) -> None:
        """Let each sent record be read, and process it if a source reads its topic."""
        while self._sent:
            offset, record = self._sent.popleft()
            self._outputs.setdefault(record.topic, deque()).append(record)
            if record.topic in self._tasks or record.topic in self._global_topics:
                assert record.timestamp is not None, "a collector always gets a timestamp"
                self._process(record.topic, offset, record.key, record.value, record.timestamp)

    def _process(self, topic: str, offset: int, key: bytes | None, value: bytes | None, timestamp: int) -> None:
        record = ConsumerRecord(topic, 0, offset, timestamp, TimestampType.CREATE_TIME, key, value)
        if self._global_task is not None and topic in self._global_topics:
            self._global_task.update(record)
            return
        task = self._tasks[topic]
        task.add_records(TopicPartition(topic, 0), [record])
        while task.process():
            task.maybe_punctuate()
        if self._commits_each:
            task.commit()


class _Committer:
    """A consumer that only remembers what is committed."""

    def __init__(self, committed: dict[TopicPartition, int]) -> None:
        self._committed = committed

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Never called: at most one record waits."""

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Never called: at most one record waits."""

    def current_lag(self, partition: TopicPartition) -> int:  # noqa: ARG002
        """Nothing waits at a broker."""
        return 0

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """Nothing yet: the driver begins with empty topics."""
        return dict.fromkeys(partitions)

    def commit_sync(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Remember offsets."""
        self._committed.update({partition: offset.offset for partition, offset in offsets.items()})

    def list_topics(self) -> dict[str, object]:
        """Never called: a commit does not fail."""
        return {}


class _Captured:
    """A collector that keeps the records, with their offsets. A user's partitioner is called with one partition."""

    def __init__(self, sent: deque[tuple[int, ProducerRecord]], end_offsets: dict[str, int]) -> None:
        self._sent = sent
        self._end_offsets = end_offsets
        self.offsets: dict[TopicPartition, int] = {}

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
        """Keep a record."""
        raw_key, raw_value = key_serializer.serialize(topic, key), value_serializer.serialize(topic, value)
        if partition is None and partitioner is not None:
            partition = partitioner(key, value, 1)
        offset = self._end_offsets.get(topic, 0)
        self._end_offsets[topic] = offset + 1
        self.offsets[TopicPartition(topic, partition or 0)] = offset
        self._sent.append((offset, ProducerRecord(topic, raw_value, raw_key, partition or 0, timestamp)))

    def flush(self) -> None:
        """A no-op: a record is stored at once."""


class _EmptyStores(StateManager):
    """Stores begin empty, and nothing outlives the driver: those on disk are in a temporary directory."""

    @cached_property
    def _directory(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="kafka-streams-")

    @property
    def base_dir(self) -> Path:
        """A directory that ``close`` deletes."""
        return Path(self._directory.name)

    def close(self, offsets: Mapping[TopicPartition, int] | None) -> None:
        """Close all stores, and delete their files."""
        super().close(offsets)
        if "_directory" in self.__dict__:
            self._directory.cleanup()

    def restore(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """A no-op."""

    def checkpoint(self, offsets: Mapping[TopicPartition, int]) -> None:
        """A no-op."""

    def put_offset_limit(self, partition: TopicPartition, limit: int) -> None:
        """A no-op."""
