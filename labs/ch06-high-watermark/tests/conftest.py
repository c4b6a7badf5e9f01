"""A leader with its log, whose followers are only numbers."""

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import MAGIC_V2

PARTITION = TopicPartition("demo", 0)
LEADER = 1
STATE = ("in_sync_replicas", "_replicas", "leader_id", "leader_epoch")
"""Attributes of a partition that a handler, a fetcher and the scheduler touch at the same time."""


class Leading:
    """Broker 1 leads; ``written`` has the ISRs that it wrote into ZooKeeper, which ``refuses`` them on request."""

    def __init__(self, folder, isr=(1, 2, 3)):
        self.time = MockTime()
        self.log = Log(
            folder / "demo-0", LogConfig({"min.insync.replicas": "2"}), 0, MockScheduler(self.time), self.time
        )
        self.written = []
        self.changes = []
        self.refuses = False
        self.refused = 0
        self.partition = Partition(PARTITION, LEADER, lambda _: self.log, lambda _: 0, self._update_isr, self.time)
        self.partition.make_leader(PartitionState(1, LEADER, 0, list(isr), 0, [1, 2, 3]))

    def _update_isr(self, _partition, state, change):
        if self.refuses:
            self.refused += 1
            return None
        self.written.append(sorted(state.leader_and_isr.isr))
        self.changes.append(change)
        return len(self.written)

    def append(self, count=1):
        for _ in range(count):
            records = memory_records(MAGIC_V2, CompressionType.NONE, [(None, b"x")], timestamp=1_000_000)
            self.log.append_as_leader(bytearray(records), 0)

    def fetches(self, follower, offset, leader_end=None):
        """A follower fetches from an offset; whether that moved the high watermark."""
        with touched_only_with(self.partition, "_lock", state=STATE, within=["update_follower_log_end_offset"]):
            return self.partition.update_follower_log_end_offset(follower, LogOffsetMetadata(offset), leader_end)

    def shrinks(self, max_lag_ms):
        """The scheduler asks whether the ISR must shrink; whether that moved the high watermark."""
        with touched_only_with(self.partition, "_lock", state=STATE, within=["maybe_shrink_isr"]):
            return self.partition.maybe_shrink_isr(max_lag_ms)

    def knows(self, follower, offset):
        """Set what the leader knows of a follower, without the learner's code."""
        self.partition.get_replica(follower).update_log_end_offset(LogOffsetMetadata(offset))

    @property
    def leader(self):
        return self.partition.get_replica()

    @property
    def high_watermark(self):
        return self.leader.high_watermark.message_offset

    @high_watermark.setter
    def high_watermark(self, offset):
        self.leader.high_watermark = LogOffsetMetadata(offset)

    @property
    def isr(self):
        return sorted(replica.broker_id for replica in self.partition.in_sync_replicas)


@pytest.fixture
def leading(tmp_path):
    """Broker 1 leads, with 2 and 3 in the ISR."""
    return Leading(tmp_path)


@pytest.fixture
def leading_with(tmp_path):
    """``leading_with(1, 2)``: broker 1 leads, with these in the ISR."""
    return lambda *isr: Leading(tmp_path, isr)
