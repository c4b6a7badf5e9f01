"""When the controller is notified of changed ISRs."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.replication.isr_changes import (
    PROPAGATION_BLACKOUT_MS,
    PROPAGATION_CHECK_MS,
    PROPAGATION_INTERVAL_MS,
    WRITE_RETRY_MS,
    IsrChanges,
)
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch

A, B = TopicPartition("orders", 0), TopicPartition("orders", 1)
STATE = LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1, 2]), 1)


class Store:
    def __init__(self) -> None:
        self.version: int | None = 7
        self.notified: list[list[TopicPartition]] = []
        self.failure: Exception | None = None

    def update_partition_state(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> int | None:
        return self.version

    def propagate_isr_changes(self, partitions: Collection[TopicPartition]) -> None:
        if self.failure is not None:
            raise self.failure
        self.notified.append(list(partitions))


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def changes(store: Store, time: MockTime) -> IsrChanges:
    return IsrChanges(store, time)


def test_changes_are_propagated_after_a_quiet_period(changes: IsrChanges, store: Store, time: MockTime) -> None:
    assert changes.update(B, STATE) == 7
    time.sleep(PROPAGATION_BLACKOUT_MS)
    changes.update(A, STATE)
    time.sleep(PROPAGATION_BLACKOUT_MS)
    changes.maybe_propagate()
    assert store.notified == []
    time.sleep(1)
    changes.maybe_propagate()
    changes.maybe_propagate()
    assert store.notified == [[A, B]]


def test_continuous_changes_are_propagated_once_a_minute(changes: IsrChanges, store: Store, time: MockTime) -> None:
    for _ in range(PROPAGATION_INTERVAL_MS // PROPAGATION_CHECK_MS + 1):
        changes.update(A, STATE)
        time.sleep(PROPAGATION_CHECK_MS)
        changes.maybe_propagate()
    assert store.notified == [[A]]


def test_each_notification_begins_another_minute(changes: IsrChanges, store: Store, time: MockTime) -> None:
    time.sleep(PROPAGATION_INTERVAL_MS)
    changes.update(A, STATE)
    changes.maybe_propagate()
    assert store.notified == [], "the minute is not over"
    time.sleep(1)
    changes.maybe_propagate()
    assert store.notified == [[A]]
    changes.update(B, STATE)
    changes.maybe_propagate()
    assert store.notified == [[A]]


def test_a_change_that_was_not_written_is_not_propagated(changes: IsrChanges, store: Store, time: MockTime) -> None:
    store.version = None
    assert changes.update(A, STATE) is None
    time.sleep(PROPAGATION_INTERVAL_MS + 1)
    changes.maybe_propagate()
    assert store.notified == []


def test_a_failed_notification_is_retried_at_the_next_check(changes: IsrChanges, store: Store, time: MockTime) -> None:
    changes.update(A, STATE)
    time.sleep(PROPAGATION_BLACKOUT_MS + 1)
    store.failure = OSError("no ZooKeeper")
    with pytest.raises(OSError, match="no ZooKeeper"):
        changes.maybe_propagate()
    store.failure = None
    changes.maybe_propagate()
    assert store.notified == [[A]]


class TestHandedOver:
    """Writes that a thread of the scheduler makes."""

    def setup_method(self) -> None:
        self.time = MockTime()
        self.changes = IsrChanges(Store(), self.time, MockScheduler(self.time))
        self.made: list[str] = []

    def submit(self, name: str, result: bool = True) -> bool:
        def write() -> bool:
            self.made.append(name)
            return result

        return self.changes.submit(write, lambda: self.made.append(f"after {name}"))

    def test_a_write_waits_for_the_scheduler(self) -> None:
        assert not self.submit("a")
        assert not self.submit("b", result=False)
        assert self.made == []
        self.time.sleep(0)
        assert self.made == ["a", "after a", "b"]
        self.submit("c")
        self.time.sleep(0)
        assert self.made[3:] == ["c", "after c"]

    def test_one_task_at_a_time_writes(self) -> None:
        """So that a slow ZooKeeper takes one thread of the scheduler, not all."""

        def write() -> bool:
            self.submit("b")
            self.time.sleep(0)  # another thread of the scheduler looks for tasks
            assert self.made == []
            return False

        self.changes.submit(write, lambda: None)
        self.time.sleep(0)
        assert self.made == ["b", "after b"]

    def test_a_failure_is_repeated_and_does_not_stop_the_others(self, caplog: pytest.LogCaptureFixture) -> None:
        failures = [ConnectionError("no ZooKeeper"), ConnectionError("still none")]

        def fail() -> bool:
            if failures:
                raise failures.pop()
            return True

        self.changes.submit(fail, lambda: self.made.append("after failures"))
        self.submit("b")
        self.time.sleep(0)
        assert self.made == ["b", "after b"]
        assert "Error while writing an ISR" in caplog.text
        self.submit("c")
        self.time.sleep(0)
        assert self.made[2:] == ["c", "after c"]
        self.time.sleep(WRITE_RETRY_MS)
        assert self.made[4:] == []
        self.time.sleep(WRITE_RETRY_MS)
        self.time.sleep(0)
        assert self.made[4:] == ["after failures"]


@pytest.mark.parametrize("result", [True, False])
def test_without_a_scheduler_the_thread_that_asks_writes(changes: IsrChanges, result: bool) -> None:
    after: list[bool] = []
    assert changes.submit(lambda: result, lambda: after.append(True)) is result
    assert after == [], "who asks sees the result"
