"""What holds while an ISR is on its way to ZooKeeper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_lite.cluster.isr_writes import IsrChange, broker_ids
from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch

TP = TopicPartition("orders", 0)
LAG_MS = 1000


class SlowZooKeeper:
    """Broker 1 leads three replicas with records at 0, 1 and 2; its writes wait for ``writes()``."""

    def __init__(self, folder: Path, isr: list[int], min_isr: int = 1) -> None:
        self.time = MockTime()
        self.log = Log(
            folder / "orders-0",
            LogConfig({"min.insync.replicas": min_isr}),
            0,
            MockScheduler(self.time),
            self.time,
        )
        self.waiting: list[Callable[[], bool]] = []
        self.asked: list[tuple[list[int], int, IsrChange]] = []
        self.answer: Callable[[], int | None] = lambda: 7
        self.partition = Partition(
            TP, 1, lambda _: self.log, lambda _: 0, self._update, self.time, lambda _, write: self._submit(write)
        )
        self.order(isr)
        for _ in range(3):
            self.append(1)

    def order(self, isr: list[int], leader: int = 1, epoch: int = 0, zk_version: int = 0) -> None:
        state = PartitionState(1, leader, epoch, isr, zk_version, [1, 2, 3])
        (self.partition.make_leader if leader == 1 else self.partition.make_follower)(state)

    def append(self, acks: int) -> None:
        batch = memory_records(2, CompressionType.NONE, [(None, b"x")], timestamp=1)
        self.partition.append_records_to_leader(bytearray(batch), acks)

    def fetch(self, broker_id: int, offset: int) -> bool:
        return self.partition.update_follower_log_end_offset(broker_id, LogOffsetMetadata(offset))

    def _submit(self, write: Callable[[], bool]) -> bool:
        self.waiting.append(write)
        return False

    def _update(self, _: TopicPartition, state: LeaderIsrAndControllerEpoch, change: IsrChange) -> int | None:
        written = state.leader_and_isr
        self.asked.append((list(written.isr), written.zk_version, change))
        return self.answer()

    def writes(self) -> list[bool]:
        waiting, self.waiting = self.waiting, []
        return [write() for write in waiting]

    @property
    def isrs(self) -> tuple[list[int], list[int]]:
        """For whom the high watermark waits, and who counts for min.insync.replicas."""
        return broker_ids(self.partition.in_sync_replicas), broker_ids(self.partition.isr)

    @property
    def high_watermark(self) -> int:
        replica = self.partition.get_replica()
        assert replica is not None
        return replica.high_watermark.message_offset


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Callable[..., SlowZooKeeper]]:
    made: list[SlowZooKeeper] = []

    def make(isr: list[int], min_isr: int = 1) -> SlowZooKeeper:
        made.append(SlowZooKeeper(tmp_path, isr, min_isr))
        return made[-1]

    yield make
    for each in made:
        each.log.close()


Slow = Callable[..., SlowZooKeeper]


def test_the_high_watermark_waits_for_a_follower_as_soon_as_the_controller_may_elect_it(slow: Slow) -> None:
    led = slow([1])
    assert led.high_watermark == 3
    led.fetch(2, 3)
    assert led.isrs == ([1, 2], [1])
    led.append(1)
    assert led.high_watermark == 3, "broker 2 lacks the record, and may lead next"
    assert led.writes() == [True]
    assert led.isrs == ([1, 2], [1, 2])
    assert led.asked == [([1, 2], 0, IsrChange.EXPAND)]
    assert led.partition.zk_version == 7
    assert led.fetch(2, 4)
    assert led.high_watermark == 4


def test_a_follower_counts_for_min_insync_replicas_only_once_it_is_in_zookeeper(slow: Slow) -> None:
    led = slow([1], min_isr=2)
    led.fetch(2, 3)
    with pytest.raises(ApiError) as refused:
        led.append(-1)
    assert refused.value.error is Errors.NOT_ENOUGH_REPLICAS
    assert led.partition.is_under_replicated
    led.writes()
    led.append(-1)
    assert led.log.log_end_offset == 4


def test_who_leaves_holds_the_high_watermark_back_until_zookeeper_knows(slow: Slow) -> None:
    led = slow([1, 2])
    led.time.sleep(LAG_MS + 1)
    assert not led.partition.maybe_shrink_isr(LAG_MS)
    assert (led.isrs, led.high_watermark) == (([1, 2], [1, 2]), 0)
    assert not led.partition.maybe_increment_high_watermark()
    assert led.writes() == [True]
    assert (led.isrs, led.asked) == (([1], [1]), [([1], 0, IsrChange.SHRINK)])
    assert led.partition.maybe_increment_high_watermark()
    assert led.high_watermark == 3
    assert not led.partition.maybe_increment_high_watermark()


def test_one_write_is_under_way_at_a_time(slow: Slow) -> None:
    led = slow([1])
    led.fetch(2, 3)
    led.fetch(3, 3)
    led.fetch(2, 3)
    led.append(1)
    led.time.sleep(LAG_MS + 1)
    led.partition.maybe_shrink_isr(LAG_MS)
    assert (len(led.waiting), led.isrs) == (1, ([1, 2], [1]))
    led.writes()
    led.fetch(3, 3)
    led.writes()
    assert (led.isrs, [isr for isr, *_ in led.asked]) == (([1, 2, 3], [1, 2, 3]), [[1, 2], [1, 2, 3]])


def test_what_zookeeper_refuses_is_taken_back_and_tried_again(slow: Slow) -> None:
    led = slow([1])
    led.answer = lambda: None
    led.fetch(2, 3)
    assert led.writes() == [False]
    assert (led.isrs, led.partition.zk_version) == (([1], [1]), 0)
    led.answer = lambda: 7
    led.fetch(2, 3)
    assert (led.writes(), led.isrs) == ([True], ([1, 2], [1, 2]))


def test_the_first_version_of_a_znode_is_a_version(slow: Slow) -> None:
    led = slow([1])
    led.answer = lambda: 0
    led.fetch(2, 3)
    assert (led.writes(), led.isrs) == ([True], ([1, 2], [1, 2]))


def test_after_an_error_zookeeper_may_have_either(slow: Slow) -> None:
    """The connection was lost, for example: the leader must not commit without the follower that may be in the ISR."""
    led = slow([1])

    def fail() -> int:
        raise ConnectionError("no ZooKeeper")

    led.answer = fail
    led.fetch(2, 3)
    (write,) = led.waiting
    with pytest.raises(ConnectionError):
        led.writes()
    led.append(1)
    assert (led.isrs, led.high_watermark) == (([1, 2], [1]), 3)
    led.fetch(2, 3)
    assert led.waiting == [], "it is repeated by whoever has called it"
    led.answer = lambda: 7
    assert write()
    assert led.isrs == ([1, 2], [1, 2])


def test_a_repeated_write_is_not_made_once_the_controller_has_decided(slow: Slow) -> None:
    led = slow([1])
    led.fetch(2, 3)
    led.order([1, 3], epoch=1, zk_version=9)
    assert (led.writes(), led.asked) == ([False], [])


def test_a_request_of_the_controller_overrides_a_write_under_way(slow: Slow) -> None:
    """A newer epoch is one that the controller has written over ours, or without it: either way it knows better."""
    led = slow([1])
    led.fetch(2, 3)
    led.order([1, 3], epoch=1, zk_version=9)
    assert led.isrs == ([1, 3], [1, 3])
    led.fetch(2, 3)
    assert led.writes() == [False, True], "that of the new epoch is not held up by the old one"
    assert (led.isrs, led.asked[-1]) == (([1, 2, 3], [1, 2, 3]), ([1, 2, 3], 9, IsrChange.EXPAND))


@pytest.mark.parametrize("resigns", [False, True])
def test_a_leader_that_leads_no_more_forgets_its_write(slow: Slow, resigns: bool) -> None:
    led = slow([1])
    led.fetch(2, 3)
    if resigns:
        led.partition.resign()
    else:
        led.order([2], leader=2, epoch=1)
    assert led.writes() == [False]
    assert led.isrs == ([], [])
    assert not led.partition.maybe_increment_high_watermark()
