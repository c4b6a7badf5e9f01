"""The promises of the high watermark: it never moves back, and each replica of the ISR has everything below it.

Broker 1 leads, and its log grows. The fetches of two followers come in on two threads, the scheduler shrinks the ISR on
a third one, and ZooKeeper refuses an ISR of one that has not seen the newest.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

from kafka_learn.labs.hunting.threads_together import together
from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata

END = 30
LEADER = 1
MAX_LAG_MS = 10.0


class GrowingLog:
    """A log of which only the end matters."""

    log_start_offset = 0
    config = SimpleNamespace(min_insync_replicas=1)
    derived_state = SimpleNamespace(on_high_watermark_updated=lambda _offset: None)

    def __init__(self) -> None:
        self.log_end_offset = 0

    @property
    def log_end_offset_metadata(self) -> LogOffsetMetadata:
        """The end as the leader's LEO."""
        return LogOffsetMetadata(self.log_end_offset)

    def maybe_assign_epoch_start_offset(self, _epoch: int, _offset: int) -> None:
        """There is one epoch only."""


class Leading:
    """A partition that is led, and what has been seen of its high watermark."""

    def __init__(self) -> None:
        self.time = MockTime()
        self.log: Any = GrowingLog()
        self.zk_version = 0
        self.partition = Partition(
            TopicPartition("t", 0), LEADER, lambda _: self.log, lambda _: 0, self._update_isr, self.time
        )
        self.partition.make_leader(PartitionState(1, LEADER, 0, [1, 2, 3], 0, [1, 2, 3]))
        self._seen = 0
        self.is_broken = False

    def _update_isr(self, _partition: object, state: Any, _change: object) -> int | None:
        """ZooKeeper takes an ISR only from one that knows its version."""
        if state.leader_and_isr.zk_version != self.zk_version:
            return None
        self.zk_version += 1
        return self.zk_version

    def look(self) -> None:
        """Raises AssertionError if a promise is broken now."""
        problem = self._problem()
        self.is_broken = self.is_broken or bool(problem)
        assert not problem, problem

    def _problem(self) -> str:
        with self.partition._lock:
            leader = self.partition.get_replica()
            assert leader is not None
            high_watermark, seen = leader.high_watermark.message_offset, self._seen
            self._seen = max(seen, high_watermark)
            in_sync = self.partition.in_sync_replicas
            ends = {each.broker_id: max(0, each.log_end_offset.message_offset) for each in in_sync}
        if high_watermark < seen:
            return f"the high watermark has moved back, from {seen} to {high_watermark}"
        behind = {broker: end for broker, end in ends.items() if end < high_watermark}
        if not behind:
            return ""
        return (
            f"the high watermark is {high_watermark}, but broker {min(behind)} is in the ISR and its log ends at "
            f"{behind[min(behind)]}: it could lead, and a committed record would be lost"
        )


def main() -> None:
    """Raises AssertionError that says which promise was broken."""
    drawn = random.Random(random.getrandbits(32))
    leading = Leading()

    def fetches(follower: int) -> None:
        """Fetch after fetch: it gets all or a part, and says so with the next one."""
        offset = 0
        while offset < END and not leading.is_broken:
            end = leading.log.log_end_offset
            offset = drawn.choice((end, drawn.randint(offset, end)))
            leading.partition.update_follower_log_end_offset(follower, LogOffsetMetadata(offset), end)
            leading.look()

    def producer() -> None:
        for _ in range(END):
            leading.log.log_end_offset += 1
            leading.look()

    def scheduler() -> None:
        for _ in range(6):
            leading.time.sleep(MAX_LAG_MS * drawn.choice((0.4, 1.2)))
            leading.partition.maybe_shrink_isr(MAX_LAG_MS)
            leading.look()

    together(fetches_of_2=lambda: fetches(2), fetches_of_3=lambda: fetches(3), producer=producer, scheduler=scheduler)
    for follower in (2, 3, 2):
        leading.partition.update_follower_log_end_offset(follower, LogOffsetMetadata(END), END)
    leader = leading.partition.get_replica()
    assert leader is not None
    high_watermark = leader.high_watermark.message_offset
    assert high_watermark == END, f"all replicas have {END} records, but the high watermark stays at {high_watermark}"
