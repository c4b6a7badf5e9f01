"""Broker 1 with its log, which follows and leads by turns; the other brokers are only numbers."""

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
BROKER = 1
STATE = ("leader_id", "leader_epoch", "in_sync_replicas", "_epoch_start_offset")
"""Attributes of a partition that requests of the controller change, and all others read."""


class Replicated:
    """The partition on broker 1; ``written`` has the ISRs that it wrote into ZooKeeper, ``refuses`` them on request."""

    def __init__(self, folder):
        self.time = MockTime()
        self.time.sleep(1_000)
        self.log = Log(folder / "demo-0", LogConfig(), 0, MockScheduler(self.time), self.time)
        self.written = []
        self.changes = []
        self.refuses = False
        self.partition = Partition(PARTITION, BROKER, lambda _: self.log, lambda _: 0, self._update_isr, self.time)

    def _update_isr(self, _partition, state, change):
        if self.refuses:
            return None
        self.written.append(sorted(state.leader_and_isr.isr))
        self.changes.append(change.name)
        return len(self.written)

    def append(self, count, epoch):
        """Records of an epoch at the end of the log: fetched from its leader, or produced."""
        for _ in range(count):
            records = memory_records(MAGIC_V2, CompressionType.NONE, [(None, b"x")], timestamp=1_000_000)
            self.log.append_as_leader(bytearray(records), epoch)

    def follow(self, leader, epoch):
        self.partition.make_follower(PartitionState(1, leader, epoch, [1, 2, 3], 0, [1, 2, 3]))

    def lead(self, epoch, isr=(1, 2, 3)):
        with touched_only_with(self.partition, "_lock", state=STATE, within=["make_leader"]):
            return self.partition.make_leader(PartitionState(1, BROKER, epoch, list(isr), 0, [1, 2, 3]))

    def leads_without_your_code(self, epoch_start, isr=(1, 2)):
        """Broker 1 leads epoch 2, which began at this offset, as if the shipped code had made it the leader."""
        state = PartitionState(1, BROKER, 2, list(isr), 0, [1, 2, 3])
        self.partition._apply(state)
        self.partition.leader_id = BROKER
        self.partition._epoch_start_offset = epoch_start

    def fetches(self, follower, offset):
        """A follower fetches from an offset."""
        self.partition.update_follower_log_end_offset(follower, LogOffsetMetadata(offset))

    def replica(self, broker=BROKER):
        return self.partition.get_replica(broker)

    @property
    def high_watermark(self):
        return self.replica().high_watermark.message_offset

    @high_watermark.setter
    def high_watermark(self, offset):
        self.replica().high_watermark = LogOffsetMetadata(offset)

    @property
    def isr(self):
        return sorted(replica.broker_id for replica in self.partition.in_sync_replicas)


@pytest.fixture
def replicated(tmp_path):
    """Broker 1, which neither leads nor follows yet."""
    return Replicated(tmp_path)
