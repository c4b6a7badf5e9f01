"""A leader with its log, and three brokers whose fetches are made by hand."""

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_learn.recording.replicas_by_hand import PARKED, ReplicasByHand
from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_leader_selector import NoReplicaOnlineError
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.records import batches

LAG_S = 11
STATE = ("in_sync_replicas", "leader_replica_if_local", "leader_epoch")
"""Attributes of a partition that the controller's requests change."""
REPLICAS = [1, 2, 3]
EPOCH = 4


class Leading:
    """Broker 1 leads in epoch 4, and ``min.insync.replicas`` is 2."""

    def __init__(self, folder, isr):
        time = MockTime()
        self.log = Log(folder / "demo-0", LogConfig({"min.insync.replicas": "2"}), 0, MockScheduler(time), time)
        partition = TopicPartition("demo", 0)
        self.partition = Partition(partition, 1, lambda _: self.log, lambda _: 0, lambda *_: 1, time)
        self.partition.make_leader(PartitionState(1, 1, EPOCH, list(isr), 0, REPLICAS))

    def append(self, acks):
        records = memory_records(MAGIC_V2, CompressionType.NONE, [(None, b"x")], timestamp=1_000_000)
        with touched_only_with(self.partition, "_lock", state=STATE, within=["append_records_to_leader"]):
            return self.partition.append_records_to_leader(bytearray(records), acks)

    @property
    def epochs(self):
        """The leader epoch of each batch in the log."""
        return [each.partition_leader_epoch for each in batches(self.log.read(0, 1 << 20).records.to_bytes())]


@pytest.fixture
def leading_with(tmp_path):
    """``leading_with(1, 2)``: broker 1 leads, with these in the ISR."""
    return lambda *isr: Leading(tmp_path, isr)


def fetch_all(replicas, leader=1):
    for _ in range(3):
        for follower in replicas.live:
            if follower != leader:
                replicas.fetch(follower)


@pytest.fixture
def fate():
    """``fate(acks, min_insync_replicas, shrunk=…, unclean=…)``: the response to record x, and what a consumer reads
    after the leader's death; None without a leader."""

    def play(acks, min_insync_replicas, shrunk=False, unclean=False):
        with ReplicasByHand(min_insync_replicas=min_insync_replicas) as replicas:
            replicas.lead(1)
            fetch_all(replicas)
            if shrunk:
                replicas.produce("a", acks=1)
                replicas.advance(LAG_S)
            produced = replicas.produce("x", acks=acks)
            if produced.response == PARKED:
                fetch_all(replicas)
            replicas.kill(1)
            try:
                leader = replicas.elect(unclean=unclean)
            except NoReplicaOnlineError:
                return produced.response, None
            fetch_all(replicas, leader)
            return produced.response, replicas.consume()

    return play
