"""A changelog without a broker: what a task sends, and what the restore consumer reads."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.state.in_memory_key_value_store import InMemoryKeyValueStore
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.state_directory import StateDirectory


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


class Store(InMemoryKeyValueStore):
    """A store that says whether it is persistent, without being it."""

    def __init__(self, name, persistent):
        super().__init__(name)
        self._persistent = persistent

    @property
    def persistent(self):
        return self._persistent


class Changelog:
    """The restore consumer of one partition. It counts what it is asked; others may append while it reads."""

    def __init__(self, pairs, batch=3, while_reading=()):
        self.records = list(pairs)
        self._batch = batch
        self._while_reading = list(while_reading)
        self._position = None
        self.assigned = None
        self.partitions = 2
        self.calls = []

    def partitions_for(self, topic):
        return [TopicPartition(topic, number) for number in range(self.partitions)]

    def assign(self, partitions):
        (self.assigned,) = partitions
        self.calls.append("assign")

    def unsubscribe(self):
        self.assigned = None
        self.calls.append("unsubscribe")

    def end_offsets(self, partitions):
        self.calls.append("end_offsets")
        return dict.fromkeys(partitions, len(self.records))

    def seek(self, partition, offset):
        assert partition == self.assigned, f"seek of {partition}, but assigned is {self.assigned}"
        self._position = offset
        self.calls.append(f"seek {offset}")

    def seek_to_beginning(self, _partitions=None):
        self._position = 0
        self.calls.append("seek_to_beginning")

    def position(self, partition):
        assert partition == self.assigned, f"position of {partition}, but assigned is {self.assigned}"
        assert self._position is not None, "seek before you ask for the position"
        return self._position

    def poll(self, _timeout_ms):
        assert self.calls.count("poll") < 100, "poll was called a hundred times: your loop does not end"
        self.calls.append("poll")
        if self._while_reading:
            self.records.append(self._while_reading.pop(0))
        end = min(self._position + self._batch, len(self.records))
        found = [
            ConsumerRecord(*self.assigned, offset, 1, TimestampType.CREATE_TIME, *self.records[offset])
            for offset in range(self._position, end)
        ]
        self._position = end
        return Polled(found)


class Polled:
    """The records of one poll."""

    def __init__(self, found):
        self._found = found

    def records(self, _partition):
        return self._found


@pytest.fixture
def changelog_of():
    """``changelog_of(pairs)``: a consumer of a changelog with these records."""
    return Changelog


@pytest.fixture
def store_of():
    """``store_of("counts", persistent=False)``."""
    return lambda name="counts", persistent=False: Store(name, persistent)


@pytest.fixture
def manager_of(tmp_path):
    """``manager_of(changelog)``: the state manager of task 0_1, whose stores counts and table have changelogs."""

    def make(changelog, sources=(), **others):
        return ProcessorStateManager(
            TaskId(0, 1), sources, changelog, StateDirectory("app", tmp_path, MockTime()),
            {"counts": "app-counts-changelog", "table": "users"}, MockTime(), **others,
        )  # fmt: skip

    return make


@pytest.fixture
def checkpoint_file(tmp_path):
    """The file with the checkpoints of the task."""
    return tmp_path / "app" / "0_1" / ".checkpoint"
