"""Leader, ISR and high watermark of one partition, over a real log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

TP = TopicPartition("orders", 0)
LOCAL, FOLLOWER, OTHER = 1, 2, 3


def records(count: int = 1) -> bytes:
    builder = MemoryRecordsBuilder(2, CompressionType.NONE)
    for i in range(count):
        builder.append(i, b"key", b"value")
    return builder.build()


def led_by(leader: int, isr: list[int], epoch: int = 0, replicas: list[int] | None = None) -> PartitionState:
    return PartitionState(1, leader, epoch, isr, 0, replicas or [LOCAL, FOLLOWER])


Make = Callable[..., Partition]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    logs: dict[TopicPartition, Log] = {}
    time = MockTime()

    def log_for(tp: TopicPartition, min_isr: int) -> Log:
        if tp not in logs:
            config = LogConfig({"min.insync.replicas": min_isr})
            logs[tp] = Log(tmp_path / str(tp), config, 0, MockScheduler(time), time)
        return logs[tp]

    def make_partition(checkpoint: int = 0, min_isr: int = 1) -> Partition:
        return Partition(TP, LOCAL, lambda tp: log_for(tp, min_isr), lambda _: checkpoint)

    yield make_partition
    for log in logs.values():
        log.close()


def high_watermark(partition: Partition) -> int:
    replica = partition.get_replica()
    assert replica is not None
    return replica.high_watermark.message_offset


def test_an_append_is_committed_at_once_if_the_leader_is_alone_in_the_isr(make: Make) -> None:
    partition = make()
    assert partition.make_leader(led_by(LOCAL, [LOCAL]))
    info, moved = partition.append_records_to_leader(records(3), -1)
    assert (info.first_offset, info.last_offset, moved) == (0, 2, True)
    assert high_watermark(partition) == 3
    assert partition.check_enough_replicas_reach_offset(3) == (True, Errors.NONE)


def test_the_high_watermark_waits_for_the_slowest_of_the_isr(make: Make) -> None:
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER]))
    _, moved = partition.append_records_to_leader(records(3), -1)
    assert (moved, high_watermark(partition)) == (False, 0)
    assert partition.check_enough_replicas_reach_offset(3) == (False, Errors.NONE)
    assert partition.update_follower_log_end_offset(FOLLOWER, LogOffsetMetadata(2))
    assert high_watermark(partition) == 2
    assert partition.update_follower_log_end_offset(FOLLOWER, LogOffsetMetadata(3))
    assert partition.check_enough_replicas_reach_offset(3) == (True, Errors.NONE)
    assert not partition.update_follower_log_end_offset(FOLLOWER, LogOffsetMetadata(1)), "it never moves back"
    assert high_watermark(partition) == 3


def test_a_replica_outside_the_isr_does_not_hold_the_high_watermark_back(make: Make) -> None:
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL]))
    partition.append_records_to_leader(records(2), 1)
    assert high_watermark(partition) == 2
    assert partition.is_under_replicated


@pytest.mark.parametrize("leader", [LOCAL, FOLLOWER])
def test_a_replica_may_be_in_sync_and_no_longer_assigned(make: Make, leader: int) -> None:
    """So it is at the end of a reassignment, until the controller takes it out of the ISR."""
    partition = make()
    make_it = partition.make_leader if leader == LOCAL else partition.make_follower
    make_it(led_by(leader, [LOCAL, FOLLOWER, OTHER], replicas=[LOCAL, FOLLOWER, OTHER]))
    make_it(led_by(leader, [LOCAL, FOLLOWER, OTHER], epoch=1, replicas=[LOCAL, FOLLOWER]))
    assert [replica.broker_id for replica in partition.assigned_replicas] == [LOCAL, FOLLOWER]
    if leader == LOCAL:
        assert {replica.broker_id for replica in partition.in_sync_replicas} == {LOCAL, FOLLOWER, OTHER}
        make_it(led_by(leader, [LOCAL, FOLLOWER], epoch=2, replicas=[LOCAL, FOLLOWER]))
        assert {replica.broker_id for replica in partition.in_sync_replicas} == {LOCAL, FOLLOWER}


def test_acks_all_needs_min_insync_replicas(make: Make) -> None:
    partition = make(min_isr=2)
    partition.make_leader(led_by(LOCAL, [LOCAL]))
    with pytest.raises(ApiError, match=r"min\.insync\.replicas") as refused:
        partition.append_records_to_leader(records(), -1)
    assert refused.value.error is Errors.NOT_ENOUGH_REPLICAS
    info, _ = partition.append_records_to_leader(records(), 1)
    assert info.first_offset == 0, "acks=1 asks for nobody else"
    assert partition.check_enough_replicas_reach_offset(1) == (True, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND)


def test_a_follower_refuses_appends(make: Make) -> None:
    partition = make()
    assert partition.make_follower(led_by(FOLLOWER, [FOLLOWER, LOCAL]))
    assert not partition.make_follower(led_by(FOLLOWER, [FOLLOWER], epoch=1)), "the leader is the same"
    assert partition.leader_replica_if_local is None
    with pytest.raises(ApiError) as refused:
        partition.append_records_to_leader(records(), 1)
    assert refused.value.error is Errors.NOT_LEADER_OR_FOLLOWER
    assert partition.check_enough_replicas_reach_offset(0) == (False, Errors.NOT_LEADER_OR_FOLLOWER)


def test_a_new_leader_forgets_where_followers_were(make: Make) -> None:
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER]))
    partition.append_records_to_leader(records(5), 1)
    partition.update_follower_log_end_offset(FOLLOWER, LogOffsetMetadata(5))
    partition.make_follower(led_by(FOLLOWER, [FOLLOWER], epoch=1))
    assert partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER], epoch=2))
    follower = partition.get_replica(FOLLOWER)
    assert follower is not None
    assert follower.log_end_offset == LogOffsetMetadata.UNKNOWN


@pytest.mark.parametrize(("checkpoint", "expected"), [(0, 0), (2, 2), (9, 3)])
def test_the_checkpointed_high_watermark_is_kept_within_the_log(make: Make, checkpoint: int, expected: int) -> None:
    first = make()
    first.make_leader(led_by(LOCAL, [LOCAL]))
    first.append_records_to_leader(records(3), 1)
    again = make(checkpoint)
    again.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER]))
    assert high_watermark(again) == expected


@pytest.mark.parametrize("broker_id", [OTHER, LOCAL])
def test_a_fetch_of_a_broker_that_does_not_follow_is_refused(make: Make, broker_id: int) -> None:
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL]))
    with pytest.raises(ApiError, match="does not follow"):
        partition.update_follower_log_end_offset(broker_id, LogOffsetMetadata(0))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [(-1, Errors.NONE), (5, Errors.NONE), (4, Errors.FENCED_LEADER_EPOCH), (6, Errors.UNKNOWN_LEADER_EPOCH)],
)
def test_clients_with_another_leader_epoch_get_an_error(make: Make, asked: int, expected: Errors) -> None:
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL], epoch=5))
    assert partition.check_leader_epoch(asked) is expected


def test_the_leo_of_the_local_replica_cannot_be_set(make: Make) -> None:
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL]))
    replica = partition.get_replica()
    assert replica is not None
    with pytest.raises(ValueError, match="its log's"):
        replica.update_log_end_offset(LogOffsetMetadata(1))
