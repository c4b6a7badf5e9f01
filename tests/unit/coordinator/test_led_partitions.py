"""Partitions of a coordinator's topic are loaded, served and unloaded."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.offsets_log import LOAD_RETRY_MS
from kafka_lite.coordinator.led_partitions import LedPartitions
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record_batch import RecordBatch
from tests.support.groups import MemoryOffsetsLog

TOPIC = "__state"
Keys = list[bytes]


class Leading:
    """Partitions whose state is the keys of their records."""

    def __init__(self) -> None:
        self.time = MockTime()
        self.log = MemoryOffsetsLog()
        self.failures: list[Exception] = []
        """What the next reads fail with."""
        self.partitions: LedPartitions[Keys] = LedPartitions(
            TOPIC, self.log, 1000, lambda _: [], self._replay, MockScheduler(self.time), self.time
        )

    def _replay(self, keys: Keys, batch: RecordBatch) -> None:
        if self.failures:
            raise self.failures.pop()
        keys += [record.key or b"" for record in batch.records()]

    def append(self, key: bytes, partition: int = 0) -> None:
        builder = MemoryRecordsBuilder()
        builder.append(0, key, b"")
        self.log.log(TopicPartition(TOPIC, partition)).append(builder.build())

    def load(self, epoch: int = 0, partition: int = 0) -> None:
        self.partitions.schedule_load(partition, epoch)
        self.time.sleep(0)

    def error(self, partition: int = 0) -> Errors:
        with pytest.raises(ApiError) as refused:
            self.partitions.get(partition)
        return refused.value.error


def test_a_partition_is_read_from_the_beginning() -> None:
    leading = Leading()
    leading.append(b"a")
    leading.append(b"b")
    assert leading.error() is Errors.NOT_COORDINATOR
    leading.load()
    assert leading.partitions.get(0) == [b"a", b"b"]
    assert leading.partitions.all() == {0: [b"a", b"b"]}
    assert leading.error(1) is Errors.NOT_COORDINATOR


def test_a_raised_epoch_of_the_same_leader_changes_nothing() -> None:
    leading = Leading()
    leading.load(1)
    state = leading.partitions.get(0)
    leading.load(2)
    assert leading.partitions.get(0) is state


def test_it_waits_until_followers_have_the_log() -> None:
    leading = Leading()
    leading.append(b"a")
    leading.log.high_watermark = 0
    leading.load()
    assert leading.error() is Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert leading.partitions.is_loading
    leading.log.high_watermark = 1
    leading.time.sleep(100)
    assert leading.partitions.get(0) == [b"a"]
    assert not leading.partitions.is_loading


def test_an_unloaded_partition_is_returned_and_not_served() -> None:
    leading = Leading()
    leading.append(b"a")
    leading.load(3)
    assert leading.partitions.unload(0, 2) is None
    assert leading.partitions.unload(0, 3) == [b"a"]
    assert leading.partitions.unload(0, 3) is None
    assert leading.error() is Errors.NOT_COORDINATOR


def test_a_partition_that_is_unloaded_while_it_loads_is_not_served() -> None:
    leading = Leading()
    leading.append(b"a")
    leading.log.high_watermark = 0
    leading.load(3)
    assert leading.partitions.unload(0, None) is None
    leading.log.high_watermark = 1
    leading.time.sleep(100)
    assert leading.error() is Errors.NOT_COORDINATOR


def test_without_memory_it_tries_again() -> None:
    leading = Leading()
    leading.append(b"a")
    leading.failures = [MemoryError()]
    leading.load()
    assert leading.error() is Errors.COORDINATOR_LOAD_IN_PROGRESS
    leading.time.sleep(LOAD_RETRY_MS)
    assert leading.partitions.get(0) == [b"a"]


def test_a_partition_that_cannot_be_read_is_not_served_until_it_is_elected_again() -> None:
    leading = Leading()
    leading.append(b"a")
    leading.failures = [OSError("bad sector")]
    leading.load(1)
    assert leading.error() is Errors.NOT_COORDINATOR
    leading.load(2)
    assert leading.partitions.get(0) == [b"a"]


def test_a_partition_that_has_moved_before_it_is_read_is_not_served() -> None:
    leading = Leading()
    leading.log.leads = False
    leading.load()
    assert leading.error() is Errors.NOT_COORDINATOR


def test_only_the_current_leadership_may_append() -> None:
    leading = Leading()
    leading.load(1)
    old = leading.partitions.get(0)
    with leading.partitions.appending(0, old) as is_current:
        assert is_current
    leading.partitions.unload(0, 1)
    leading.load(2)
    with leading.partitions.appending(0, old) as is_current:
        assert not is_current


def test_nothing_is_loaded_after_the_end() -> None:
    leading = Leading()
    leading.partitions.schedule_load(0, 0)
    leading.partitions.close()
    leading.time.sleep(0)
    assert leading.error() is Errors.COORDINATOR_LOAD_IN_PROGRESS
