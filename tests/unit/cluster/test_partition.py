"""Leader, ISR and high watermark of one partition, over a real log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_lite.cluster.isr_writes import IsrChange, UpdateIsr
from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.log_append_info import LogAppendInfo
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch

TP = TopicPartition("orders", 0)
LOCAL, FOLLOWER, OTHER = 1, 2, 3


def records(count: int = 1) -> bytes:
    builder = MemoryRecordsBuilder(2, CompressionType.NONE)
    for i in range(count):
        builder.append(i, b"key", b"value")
    return builder.build()


def led_by(
    leader: int, isr: list[int], epoch: int = 0, replicas: list[int] | None = None, zk_version: int = 0
) -> PartitionState:
    return PartitionState(1, leader, epoch, isr, zk_version, replicas or [LOCAL, FOLLOWER])


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

    def make_partition(
        checkpoint: int = 0, min_isr: int = 1, update_isr: UpdateIsr = lambda *_: None, clock: MockTime = time
    ) -> Partition:
        return Partition(TP, LOCAL, lambda tp: log_for(tp, min_isr), lambda _: checkpoint, update_isr, clock)

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


def test_a_partition_with_all_replicas_in_sync_is_not_under_replicated(make: Make) -> None:
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER]))
    assert not partition.is_under_replicated


@pytest.mark.parametrize("leader", [LOCAL, FOLLOWER])
def test_a_replica_may_be_in_sync_and_no_longer_assigned(make: Make, leader: int) -> None:
    """This is the state at the end of a reassignment, until the controller removes it from the ISR."""
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
    assert info.first_offset == 0, "acks=1 does not depend on followers"
    assert partition.check_enough_replicas_reach_offset(1) == (True, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND)


def test_a_follower_rejects_appends(make: Make) -> None:
    partition = make()
    assert partition.make_follower(led_by(FOLLOWER, [FOLLOWER, LOCAL]))
    assert not partition.make_follower(led_by(FOLLOWER, [FOLLOWER], epoch=1)), "the same leader changes nothing"
    assert partition.leader_replica_if_local is None
    assert not partition.in_sync_replicas, "only the leader knows the ISR"
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


def test_a_leader_in_a_new_epoch_still_knows_where_its_followers_are(make: Make) -> None:
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER]))
    partition.append_records_to_leader(records(5), 1)
    partition.update_follower_log_end_offset(FOLLOWER, LogOffsetMetadata(4))
    assert not partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER], epoch=1)), "it led before"
    follower = partition.get_replica(FOLLOWER)
    assert follower is not None
    assert follower.log_end_offset == LogOffsetMetadata(4)


def test_the_epoch_of_a_new_leader_begins_at_the_end_of_its_log(make: Make) -> None:
    """Before its first append: a follower may ask where the epochs end."""
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL]))
    partition.append_records_to_leader(records(3), 1)
    partition.make_leader(led_by(LOCAL, [LOCAL], epoch=4))
    log = partition.log
    assert log is not None
    assert log.latest_epoch == 4
    assert log.end_offset_for_epoch(0).start_offset == 3


def test_a_new_leader_that_is_alone_in_the_isr_commits_what_it_has(make: Make) -> None:
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER]))
    partition.append_records_to_leader(records(3), 1)
    partition.make_follower(led_by(FOLLOWER, [LOCAL, FOLLOWER], epoch=1))
    assert high_watermark(partition) == 0
    partition.make_leader(led_by(LOCAL, [LOCAL], epoch=2))
    assert high_watermark(partition) == 3


@pytest.mark.parametrize(("checkpoint", "expected"), [(0, 0), (2, 2), (9, 3)])
def test_the_checkpointed_high_watermark_is_limited_to_the_log(make: Make, checkpoint: int, expected: int) -> None:
    first = make()
    first.make_leader(led_by(LOCAL, [LOCAL]))
    first.append_records_to_leader(records(3), 1)
    again = make(checkpoint)
    again.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER]))
    assert high_watermark(again) == expected


def test_the_high_watermark_is_never_below_the_start_of_the_log(make: Make) -> None:
    first = make()
    first.make_leader(led_by(LOCAL, [LOCAL]))
    first.append_records_to_leader(records(3), 1)
    assert first.log is not None
    first.log.maybe_increment_log_start_offset(2)
    again = make(checkpoint=1)
    again.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER]))
    assert high_watermark(again) == 2


@pytest.mark.parametrize("broker_id", [OTHER, LOCAL])
def test_a_fetch_of_a_broker_without_a_replica_is_rejected(make: Make, broker_id: int) -> None:
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


class Isrs:
    """What a leader writes into ZooKeeper, where ``version`` is that of the node; None: the controller has written."""

    def __init__(self) -> None:
        self.written: list[list[int]] = []
        self.states: list[LeaderIsrAndControllerEpoch] = []
        self.changes: list[IsrChange] = []
        self.version: int | None = 5

    def update(self, _partition: TopicPartition, state: LeaderIsrAndControllerEpoch, change: IsrChange) -> int | None:
        self.written.append(state.leader_and_isr.isr)
        self.states.append(state)
        self.changes.append(change)
        return self.version


class Led:
    """A partition with three replicas that the local broker leads, in which three records lie."""

    def __init__(self, make: Make, isr: list[int]) -> None:
        self.isrs, self.time = Isrs(), MockTime()
        self.partition = make(update_isr=self.isrs.update, clock=self.time)
        self.partition.make_leader(led_by(LOCAL, isr, replicas=[LOCAL, FOLLOWER, OTHER]))
        self.partition.append_records_to_leader(records(3), 1)

    def fetch(self, broker_id: int, offset: int) -> bool:
        return self.partition.update_follower_log_end_offset(broker_id, LogOffsetMetadata(offset))

    @property
    def isr(self) -> set[int]:
        return {replica.broker_id for replica in self.partition.in_sync_replicas}


def test_a_follower_enters_the_isr_once_it_has_all_that_is_committed(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    led.fetch(FOLLOWER, 2)
    assert high_watermark(led.partition) == 2
    led.fetch(OTHER, 1)
    assert (led.isr, led.isrs.written) == ({LOCAL, FOLLOWER}, [])
    led.fetch(OTHER, 2)
    assert (led.isr, led.isrs.written) == ({LOCAL, FOLLOWER, OTHER}, [[LOCAL, FOLLOWER, OTHER]])
    assert (led.partition.zk_version, led.isrs.changes) == (5, [IsrChange.EXPAND])


def test_an_isr_is_written_in_the_epochs_and_for_the_version_of_the_last_order(make: Make) -> None:
    led = Led(make, [LOCAL])
    led.partition.make_leader(led_by(LOCAL, [LOCAL], epoch=4, zk_version=9))
    led.fetch(FOLLOWER, 3)
    led.partition.append_records_to_leader(records(), 1)
    led.time.sleep(1001)
    led.partition.maybe_shrink_isr(1000)
    assert led.isrs.states == [
        LeaderIsrAndControllerEpoch(LeaderAndIsr(LOCAL, [LOCAL, FOLLOWER], 4, 9), 1),
        LeaderIsrAndControllerEpoch(LeaderAndIsr(LOCAL, [LOCAL], 4, 5), 1),
    ]


def test_a_new_leader_takes_a_follower_into_the_isr_only_with_all_that_it_had_itself(make: Make) -> None:
    """The last leader may have committed it all, and the new one's high watermark lags: KAFKA-7128."""
    led = Led(make, [LOCAL, FOLLOWER])
    replicas = [LOCAL, FOLLOWER, OTHER]
    led.partition.make_follower(led_by(FOLLOWER, [LOCAL, FOLLOWER], epoch=1, replicas=replicas))
    led.partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER], epoch=2, replicas=replicas))
    led.fetch(FOLLOWER, 1)
    assert high_watermark(led.partition) == 1
    led.fetch(OTHER, 2)
    assert led.isr == {LOCAL, FOLLOWER}
    led.fetch(OTHER, 3)
    assert led.isr == {LOCAL, FOLLOWER, OTHER}


def test_a_leadership_does_not_end_during_an_append(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    log = led.partition.log
    assert log is not None
    append, follow = log.append_as_leader, led_by(FOLLOWER, [FOLLOWER], epoch=1)
    end = threading.Thread(target=led.partition.make_follower, args=[follow])
    may_end: list[bool] = []

    def append_meanwhile(
        batch: bytes, leader_epoch: int, origin: AppendOrigin, guard: VerificationGuard | None
    ) -> LogAppendInfo:
        end.start()
        probe = threading.Thread(target=lambda: may_end.append(led.partition._lock.acquire(blocking=False)))
        probe.start()
        probe.join()
        return append(batch, leader_epoch, origin, guard)

    monkeypatch.setattr(log, "append_as_leader", append_meanwhile)
    led.partition.append_records_to_leader(records(), 1)
    end.join()
    assert may_end == [False]
    assert (led.partition.leader_id, log.log_end_offset, log.latest_epoch) == (FOLLOWER, 4, 0)


def test_the_old_epoch_lasts_until_the_new_leader_is_known(tmp_path: Path) -> None:
    """Making a log takes time. An append meanwhile belongs to the old leadership."""
    seen: list[tuple[int, int]] = []

    def log_for(_: TopicPartition) -> Log:
        seen.append((partition.leader_epoch, partition.leader_id))
        return Log(tmp_path / "orders-0", LogConfig({}), 0, MockScheduler(MockTime()), MockTime())

    partition = Partition(TP, LOCAL, log_for, lambda _: 0, lambda *_: None, MockTime())
    partition.make_leader(led_by(LOCAL, [LOCAL], epoch=7))
    assert seen == [(-1, -1)]
    log = partition.log
    assert log is not None
    log.close()


def test_a_log_forgets_transactions_whose_markers_are_replicated(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    assert led.partition.log is not None
    builder = MemoryRecordsBuilder(2, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    builder.append(1, b"k", b"v")
    marker = EndTransactionMarker(ControlRecordType.COMMIT, 0).to_batch(7, 0, 2)
    for batch in (builder.build(), marker):
        led.partition.append_records_to_leader(batch, 1, AppendOrigin.COORDINATOR)
    led.fetch(FOLLOWER, 4)
    assert len(led.partition.log.producer_state.transactions.ended) == 1
    led.fetch(FOLLOWER, 5)
    assert led.partition.log.producer_state.transactions.ended == ()


def test_a_follower_in_the_isr_holds_the_high_watermark_back(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER, OTHER])
    assert not led.fetch(FOLLOWER, 3)
    assert high_watermark(led.partition) == 0
    assert led.fetch(OTHER, 2)
    assert high_watermark(led.partition) == 2
    assert not led.fetch(OTHER, 2), "nobody needs to look again"


def test_a_follower_that_was_not_at_the_end_for_too_long_leaves_the_isr(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER, OTHER])
    led.fetch(FOLLOWER, 3)
    led.fetch(OTHER, 1)
    led.time.sleep(1000)
    assert not led.partition.maybe_shrink_isr(1000)
    led.time.sleep(1)
    assert led.partition.maybe_shrink_isr(1000), "the high watermark waited for it"
    assert (led.isr, led.isrs.written) == ({LOCAL, FOLLOWER}, [[LOCAL, FOLLOWER]])
    assert (high_watermark(led.partition), led.isrs.changes) == (3, [IsrChange.SHRINK])


def test_a_follower_at_the_end_stays_in_the_isr_of_an_idle_partition(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    led.fetch(FOLLOWER, 3)
    led.time.sleep(60_000)
    assert not led.partition.maybe_shrink_isr(1000)
    assert led.isr == {LOCAL, FOLLOWER}


def test_a_follower_of_a_busy_leader_has_kept_up_if_it_has_what_was_there_at_its_last_fetch(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    for _ in range(5):
        led.time.sleep(600)
        end = led.partition.append_records_to_leader(records(1), 1)[0].last_offset + 1
        led.fetch(FOLLOWER, end - 1)
        led.partition.maybe_shrink_isr(1000)
    assert led.isr == {LOCAL, FOLLOWER}


def test_a_follower_may_lag_for_the_whole_time_after_it_was_at_the_end(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    led.time.sleep(1000)
    led.fetch(FOLLOWER, 3)
    led.partition.append_records_to_leader(records(), 1)
    led.time.sleep(1000)
    led.partition.maybe_shrink_isr(1000)
    assert led.isr == {LOCAL, FOLLOWER}


def test_a_follower_that_fetches_too_rarely_leaves_the_isr_of_a_busy_leader(make: Make) -> None:
    """Its second fetch shows only that it was at the end at the time of its first."""
    led = Led(make, [LOCAL, FOLLOWER])
    led.fetch(FOLLOWER, 3)
    led.partition.append_records_to_leader(records(), 1)
    led.time.sleep(1001)
    led.fetch(FOLLOWER, 3)
    led.partition.maybe_shrink_isr(1000)
    assert led.isr == {LOCAL}


def test_a_follower_that_fetches_often_but_never_catches_up_leaves_the_isr(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    for offset in (1, 1, 2):
        led.time.sleep(500)
        led.fetch(FOLLOWER, offset)
    led.partition.maybe_shrink_isr(1000)
    assert led.isr == {LOCAL}


def test_a_broker_that_follows_takes_no_note_of_other_followers(make: Make) -> None:
    led = Led(make, [LOCAL, OTHER])
    led.partition.make_follower(led_by(FOLLOWER, [FOLLOWER], epoch=1, replicas=[LOCAL, FOLLOWER, OTHER]))
    with pytest.raises(ApiError) as refused:
        led.fetch(OTHER, 3)
    assert refused.value.error is Errors.NOT_LEADER_OR_FOLLOWER


def test_an_isr_that_the_controller_has_changed_since_is_left_to_it(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    led.isrs.version = None
    led.time.sleep(2000)
    assert not led.partition.maybe_shrink_isr(1000)
    assert (led.isr, led.partition.zk_version) == ({LOCAL, FOLLOWER}, 0)


def test_a_new_leader_gives_the_isr_time_to_find_it(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    led.time.sleep(2000)
    led.partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER], epoch=1, replicas=[LOCAL, FOLLOWER, OTHER]))
    assert not led.partition.maybe_shrink_isr(1000)
    assert led.isr == {LOCAL, FOLLOWER}


def test_a_new_leader_gives_time_to_the_members_of_the_isr_only(make: Make) -> None:
    led = Led(make, [LOCAL, FOLLOWER])
    led.time.sleep(2000)
    led.partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER], epoch=1, replicas=[LOCAL, FOLLOWER, OTHER]))
    caught_up = {each.broker_id: each.last_caught_up_time_ms for each in led.partition.assigned_replicas}
    assert (caught_up[FOLLOWER], caught_up[OTHER]) == (led.time.hi_res_ms(), 0)


def test_a_copy_of_the_log_in_another_directory_takes_over(make: Make, tmp_path: Path) -> None:
    """Positions in the old files mean nothing in the new ones. The epoch goes on."""
    partition = make()
    partition.make_leader(led_by(LOCAL, [LOCAL, FOLLOWER], epoch=3))
    partition.append_records_to_leader(records(3), 1)
    partition.update_follower_log_end_offset(FOLLOWER, LogOffsetMetadata(2, 0, 70))
    local, follower = partition.get_replica(), partition.get_replica(FOLLOWER)
    assert local is not None
    assert follower is not None
    time = MockTime()
    copy = Log(tmp_path / "elsewhere" / str(TP), LogConfig(), 0, MockScheduler(time), time)
    assert not partition.maybe_replace_log(lambda: None), "it is not complete"
    assert partition.maybe_replace_log(lambda: copy)
    assert partition.log is copy
    assert (local.high_watermark, follower.log_end_offset) == (LogOffsetMetadata(2), LogOffsetMetadata(2))
    assert copy.latest_epoch == 3
    copy.close()


class TestDivergingEpochs:
    """The epochs of the log: 1 from offset 0, 3 from offset 4, 5 from offset 6; its end is 8."""

    @pytest.fixture
    def partition(self, make: Make) -> Partition:
        partition = make()
        for epoch, count in ((1, 4), (3, 2), (5, 2)):
            partition.make_leader(led_by(LOCAL, [LOCAL], epoch))
            partition.append_records_to_leader(records(count), 1)
        return partition

    @staticmethod
    def diverging(partition: Partition, epoch: int, offset: int) -> tuple[int, int] | None:
        assert partition.log is not None
        return partition.diverging_epoch(partition.log, epoch, offset)

    @pytest.mark.parametrize(
        ("epoch", "offset", "expected"),
        [
            (1, 4, None),
            (1, 5, (1, 4)),  # it has more of epoch 1 than this log
            (2, 3, (1, 4)),  # this log does not have epoch 2
            (4, 6, (3, 6)),
            (5, 8, None),
            (5, 9, (5, 8)),
            (0, 0, None),
            (0, 1, (0, 0)),  # older than all of this log
            (-1, 99, None),  # it does not ask
        ],
    )
    def test_a_readers_log_diverges_if_its_last_epoch_is_missing_or_ends_before(
        self, partition: Partition, epoch: int, offset: int, expected: tuple[int, int] | None
    ) -> None:
        assert self.diverging(partition, epoch, offset) == expected

    @pytest.mark.parametrize(("epoch", "offset"), [(6, 8), (1, 2)])
    def test_an_epoch_of_the_future_and_an_offset_before_the_start_are_out_of_range(
        self, partition: Partition, epoch: int, offset: int
    ) -> None:
        assert partition.log is not None
        partition.log.maybe_increment_log_start_offset(3)
        with pytest.raises(ApiError) as raised:
            self.diverging(partition, epoch, offset)
        assert raised.value.error is Errors.OFFSET_OUT_OF_RANGE
