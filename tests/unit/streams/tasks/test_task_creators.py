"""The tasks of a thread are made of its clients, and leave nothing open if they cannot be made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import EMPTY_RECORDS, ConsumerRecords
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.streams.errors import LockError, StreamsError
from kafka_lite.streams.metrics.stream_thread_metrics import StreamThreadMetrics
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.tasks.task_creators import ActiveTaskCreator, StandbyTaskCreator, TaskParts

TASK, SOURCE = TaskId(0, 1), [TopicPartition("in", 1)]
CHANGELOG = TopicPartition("app-store-changelog", 1)


class Nothing(Processor[Any, Any]):
    def process(self, key: Any, value: Any) -> None:
        pass


class MockConsumer:
    """A consumer of empty topics. It knows the changelog unless it is told otherwise."""

    def __init__(self) -> None:
        self.knows_changelog = True
        self.asked_for_ends = 0

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, None]:
        return dict.fromkeys(partitions)

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        return [PartitionInfo(topic, 1, None)] if self.knows_changelog else []

    def assign(self, _: object) -> None:
        pass

    def unsubscribe(self) -> None:
        pass

    def seek_to_beginning(self, _: object) -> None:
        pass

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        self.asked_for_ends += 1
        return dict.fromkeys(partitions, 0)

    def position(self, _: object) -> int:
        return 0

    def poll(self, _: float) -> ConsumerRecords:
        return EMPTY_RECORDS


class MockProducer:
    """A producer that notes what it is asked for."""

    def __init__(self, calls: list[str], error: Exception | None = None) -> None:
        self._calls, self._error = calls, error

    def init_transactions(self, *_: object) -> None:
        self._calls.append("init_transactions")
        if self._error is not None:
            raise self._error

    def close(self, *_: object) -> None:
        self._calls.append("close")


class Thread:
    """What a thread has to make its tasks."""

    def __init__(self, state_dir: Path, **configs: object) -> None:
        self.calls: list[str] = []
        self.error: Exception | None = None
        self.producer_configs: list[Mapping[str, object]] = []
        self.state_dir, time = state_dir, MockTime()
        builder = TopologyBuilder().set_application_id("app").add_source("source", "in")
        builder.add_processor("processor", Nothing, "source")
        builder.add_state_store(Stores.in_memory_key_value("store"), "processor")
        given: dict[str, object] = {"application.id": "app", "bootstrap.servers": "127.0.0.1:1", **configs}
        config = StreamsConfig({**given, "state.dir": str(state_dir)})
        metrics = StreamThreadMetrics(Metrics(time=time), "app-1", time)
        self.restore, self.ends = MockConsumer(), MockConsumer()
        clients: Any = [MockConsumer(), self.restore, self.ends if config.is_exactly_once_v2 else None]
        directory = StateDirectory("app", state_dir, time)
        self.parts = TaskParts("1", builder, config, directory, *clients, metrics, ThreadCache(), {}, time)

    def get_producer(self, config: Mapping[str, object]) -> MockProducer:
        self.producer_configs.append(config)
        return MockProducer(self.calls, self.error)

    def active(self, producer: Any = None) -> ActiveTaskCreator:
        clients: Any = self
        return ActiveTaskCreator(self.parts, clients, "app-1", producer)

    @property
    def is_lock_free(self) -> bool:
        other = StateDirectory("app", self.state_dir, MockTime())
        try:
            return other.lock(TASK)
        finally:
            other.unlock(TASK)


def test_with_exactly_once_a_task_has_an_initialized_producer_of_its_own(tmp_path: Path) -> None:
    thread = Thread(tmp_path, **{"processing.guarantee": "exactly_once"})
    task = thread.active().create(TASK, SOURCE, None)
    assert thread.calls == ["init_transactions"]
    assert [config["transactional.id"] for config in thread.producer_configs] == ["app-0_1"]
    assert task.store("store") is not None
    task.close_state_manager(write_checkpoint=True)
    assert thread.calls[-1] == "close"


def test_a_producer_that_cannot_be_initialized_is_closed_and_the_directory_is_free(tmp_path: Path) -> None:
    thread = Thread(tmp_path, **{"processing.guarantee": "exactly_once"})
    thread.error = ApiError(Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    with pytest.raises(StreamsError, match="Failed to initialize transactions"):
        thread.active().create(TASK, SOURCE, None)
    assert thread.calls == ["init_transactions", "close"]
    assert thread.is_lock_free


def test_a_task_that_cannot_be_restored_leaves_the_directory_free(tmp_path: Path) -> None:
    thread = Thread(tmp_path)
    thread.restore.knows_changelog = False
    producer: Any = MockProducer(thread.calls)
    with pytest.raises(StreamsError, match="does not contain partition 1"):
        thread.active(producer).create(TASK, SOURCE, None)
    with pytest.raises(StreamsError, match="does not contain partition 1"):
        StandbyTaskCreator(thread.parts).create(TASK, SOURCE)
    assert thread.is_lock_free
    assert thread.calls == [], "the producer is the thread's"


def test_a_task_gets_the_stores_of_the_standby_and_closes_them_if_it_fails(tmp_path: Path) -> None:
    thread = Thread(tmp_path)
    standby = StandbyTaskCreator(thread.parts).create(TASK, SOURCE)
    assert standby is not None
    store = standby.store("store")
    assert not thread.is_lock_free
    producer: Any = MockProducer(thread.calls)
    task = thread.active(producer).create(TASK, SOURCE, standby)
    assert task.store("store") is store
    task.close_state_manager(write_checkpoint=True)
    standby = StandbyTaskCreator(thread.parts).create(TASK, SOURCE)
    thread.restore.knows_changelog = False
    with pytest.raises(StreamsError, match="does not contain partition 1"):
        thread.active(producer).create(TASK, SOURCE, standby)
    assert thread.is_lock_free


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
def test_a_task_asks_its_restore_consumer_for_the_ends_of_changelogs(tmp_path: Path, guarantee: str) -> None:
    thread = Thread(tmp_path, **{"processing.guarantee": guarantee})
    producer: Any = None if guarantee == "exactly_once" else MockProducer(thread.calls)
    thread.active(producer).create(TASK, SOURCE, None).close_state_manager(write_checkpoint=False)
    assert (thread.restore.asked_for_ends, thread.ends.asked_for_ends) == (1, 0)


def test_with_exactly_once_v2_another_consumer_sees_the_ends_after_open_transactions(tmp_path: Path) -> None:
    thread = Thread(tmp_path, **{"processing.guarantee": "exactly_once_v2"})
    producer: Any = MockProducer(thread.calls)
    thread.active(producer).create(TASK, SOURCE, None).close_state_manager(write_checkpoint=False)
    assert (thread.restore.asked_for_ends, thread.ends.asked_for_ends) == (0, 1)


def test_a_task_without_stores_has_no_standby(tmp_path: Path) -> None:
    thread = Thread(tmp_path)
    thread.parts.builder.add_source("other", "other")
    [group] = [number for number, info in thread.parts.builder.topic_groups().items() if "other" in info.source_topics]
    assert StandbyTaskCreator(thread.parts).create(TaskId(group, 1), [TopicPartition("other", 1)]) is None


def test_a_standby_does_not_wait_for_a_directory_that_another_thread_has(tmp_path: Path) -> None:
    first, second = Thread(tmp_path), Thread(tmp_path)
    standby = StandbyTaskCreator(first.parts).create(TASK, SOURCE)
    with pytest.raises(LockError):
        StandbyTaskCreator(second.parts).create(TASK, SOURCE)
    assert standby is not None
    standby.close_state_manager(write_checkpoint=False)
