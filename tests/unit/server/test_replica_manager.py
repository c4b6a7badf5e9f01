"""Appends and fetches, over real logs and without a socket."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.validation.log_validator import LogValidator
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataPartitionState, UpdateMetadataRequest
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder, memory_records
from kafka_lite.server.fetch_params import FetchParams, FetchPartition
from kafka_lite.server.produce_status import PartitionResponse, ProducePartitionStatus, check_acks
from kafka_lite.testing.replica_managers import new_replica_manager
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch
from tests.support.replica_managers import TP, TP1, Broker, offsets, only


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path / "logs")
    yield broker
    broker.close()


def test_appended_records_are_read_back(broker: Broker) -> None:
    assert broker.lead(TP) == [0, 0]
    broker.produce(TP, 3)
    assert broker.produced == [{TP: PartitionResponse(Errors.NONE, 0, -1, 0)}]
    broker.fetch(TP, 0)
    result = only(broker.fetched)
    assert (result.error, result.high_watermark, result.log_start_offset) == (Errors.NONE, 3, 0)
    assert offsets(result) == [0, 1, 2]


@pytest.mark.parametrize(("count", "before_the_locks"), [(10, False), (10_000, True)])
def test_records_that_take_long_are_validated_before_the_locks(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, count: int, before_the_locks: bool
) -> None:
    broker.lead(TP)
    partition, validate, free = broker.replicas.get_leader_partition(TP), LogValidator.validate, list[bool]()

    def look() -> None:
        taken = [lock for lock in (partition._lock, broker.log(TP)._lock) if lock.acquire(blocking=False)]
        free.append(len(taken) == 2)
        for lock in taken:
            lock.release()

    def validate_and_look(*arguments: Any) -> Any:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return validate(*arguments)

    monkeypatch.setattr(LogValidator, "validate", validate_and_look)
    batch = memory_records(2, CompressionType.GZIP, [(None, b"x" * 100)] * count)
    broker.replicas.append_records(1000, -1, False, {TP: batch}, broker.produced.append)
    is_compiled = not inspect.isfunction(validate)  # then the log, compiled as well, calls it without looking it up
    assert free == ([] if is_compiled and not before_the_locks else [before_the_locks])
    assert broker.produced == [{TP: PartitionResponse(Errors.NONE, 0, -1, 0)}]
    assert broker.log(TP).log_end_offset == count


def test_records_that_are_refused_before_the_locks_have_their_error(broker: Broker) -> None:
    broker.lead(TP)
    batch = bytearray(memory_records(2, CompressionType.GZIP, [(None, b"x" * 100)] * 10_000))
    batch[-1] ^= 1
    broker.replicas.append_records(1000, 1, False, {TP: batch}, broker.produced.append)
    assert broker.produced[0][TP].error is Errors.CORRUPT_MESSAGE
    assert broker.log(TP).log_end_offset == 0


@pytest.mark.parametrize("acks", [-2, 2, 99])
def test_invalid_acks_are_rejected(broker: Broker, acks: int) -> None:
    broker.lead(TP)
    broker.produce(TP, acks=acks)
    assert broker.produced[0][TP].error is Errors.INVALID_REQUIRED_ACKS
    broker.fetch(TP, 0)
    assert only(broker.fetched).high_watermark == 0


@pytest.mark.parametrize("acks", [-1, 0, 1])
def test_each_kind_of_acks_appends(broker: Broker, acks: int) -> None:
    broker.lead(TP)
    broker.produce(TP, acks=acks)
    assert broker.produced[0][TP].error is Errors.NONE
    assert broker.log(TP).log_end_offset == 1


def test_a_missing_partition_is_unknown(broker: Broker) -> None:
    broker.produce(TP)
    broker.fetch(TP, 0)
    assert broker.produced[0][TP].error is Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert only(broker.fetched).error is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_a_broker_that_has_no_replica_of_a_partition_is_not_its_leader(broker: Broker) -> None:
    elsewhere = UpdateMetadataPartitionState(
        topic_name=TP.topic, partition_index=TP.partition, leader=2, isr=[2], replicas=[2]
    )
    broker.metadata_cache.update_cache(UpdateMetadataRequest(ungrouped_partition_states=[elsewhere]))
    broker.produce(TP)
    broker.fetch(TP, 0)
    assert broker.produced[0][TP].error is Errors.NOT_LEADER_OR_FOLLOWER
    assert only(broker.fetched).error is Errors.NOT_LEADER_OR_FOLLOWER
    with pytest.raises(ApiError) as caught:
        broker.replicas.delete_records(TP, 0)
    assert caught.value.error is Errors.NOT_LEADER_OR_FOLLOWER


def test_a_partition_led_by_another_broker_is_not_leader(broker: Broker) -> None:
    broker.lead(TP, leader=2, isr=(1, 2))
    broker.produce(TP)
    broker.fetch(TP, 0)
    assert broker.produced[0][TP].error is Errors.NOT_LEADER_OR_FOLLOWER
    assert only(broker.fetched).error is Errors.NOT_LEADER_OR_FOLLOWER


def test_only_the_broker_writes_to_internal_topics(broker: Broker) -> None:
    internal = TopicPartition("__consumer_offsets", 0)
    broker.lead(internal)
    broker.produce(internal)
    broker.produce(internal, internal=True)
    assert [response[internal].error for response in broker.produced] == [Errors.INVALID_TOPIC_EXCEPTION, Errors.NONE]


def test_invalid_records_are_named(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "compacted", cleanup_policy="compact")
    broker.lead(TP)
    broker.produce(TP, 2)
    response = broker.produced[0][TP]
    assert response.error is Errors.INVALID_RECORD
    assert [index for index, _ in response.record_errors] == [0, 1]
    broker.close()


@pytest.mark.parametrize("offset", [-1, 4, 100])
def test_fetch_outside_the_log_is_out_of_range(broker: Broker, offset: int) -> None:
    broker.lead(TP)
    broker.produce(TP, 3)
    broker.fetch(TP, offset, max_wait_ms=10_000)
    result = only(broker.fetched)
    assert (result.error, result.high_watermark, result.log_start_offset) == (Errors.OFFSET_OUT_OF_RANGE, -1, -1)


def test_acks_all_waits_for_the_follower(broker: Broker) -> None:
    broker.lead(TP, isr=(1, 2))
    broker.produce(TP, 2, acks=1)
    assert len(broker.produced) == 1, "acks=1 completes at once"
    broker.produce(TP, 2, acks=-1)
    assert len(broker.produced) == 1
    broker.fetch(TP, 0)
    assert offsets(broker.fetched[0][0][1]) == [], "nothing is committed yet"
    broker.fetch(TP, 3, replica_id=2)
    assert len(broker.produced) == 1, "the follower has only reached offset 3"
    broker.fetch(TP, 4, replica_id=2)
    assert broker.produced[1][TP] == PartitionResponse(Errors.NONE, 2, -1, 0)


def test_a_follower_reads_uncommitted_records(broker: Broker) -> None:
    broker.lead(TP, isr=(1, 2))
    broker.produce(TP, 2, acks=1)
    broker.fetch(TP, 0, replica_id=2)
    assert offsets(only(broker.fetched)) == [0, 1]


def test_a_waiting_follower_gets_uncommitted_records(broker: Broker) -> None:
    broker.lead(TP, isr=(1, 2))
    broker.fetch(TP, 0, replica_id=2, max_wait_ms=60_000)
    assert broker.fetched == []
    broker.produce(TP, 1, acks=1)
    assert offsets(only(broker.fetched)) == [0], "it must not wait until max_wait_ms"


def test_a_tool_may_read_what_a_follower_has_committed(broker: Broker) -> None:
    """It names itself as replica -2."""
    broker.lead(TP)
    broker.produce(TP, 2)
    broker.lead(TP, leader=2, epoch=1, isr=(1, 2))
    broker.fetch(TP, 0, replica_id=-2)
    assert offsets(only(broker.fetched)) == [0, 1]
    broker.fetched.clear()
    broker.fetch(TP, 0)
    assert only(broker.fetched).error is Errors.NOT_LEADER_OR_FOLLOWER
    broker.fetched.clear()
    broker.fetch(TP1, 0, replica_id=-2)
    assert only(broker.fetched).error is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_a_log_that_was_closed_is_an_error_of_its_partition(broker: Broker) -> None:
    broker.lead(TP, TP1)
    broker.produce(TP)
    broker.produce(TP1)
    broker.produced.clear()
    broker.log(TP).close()
    params, asked = FetchParams(-1, 0, 1, 1 << 20, False), FetchPartition(0, 1 << 20)
    broker.replicas.fetch_messages(params, [(TP, asked), (TP1, asked)], broker.fetched.append)
    batch = memory_records(2, CompressionType.NONE, [(b"k", b"v")])
    broker.replicas.append_records(1000, 1, False, {TP: batch, TP1: batch}, broker.produced.append)
    for errors in (
        {tp: result.error for tp, result in broker.fetched[0]},
        {tp: response.error for tp, response in broker.produced[0].items()},
    ):
        assert errors == {TP: Errors.KAFKA_STORAGE_ERROR, TP1: Errors.NONE}


def test_a_fetch_of_a_broker_without_a_replica_is_an_error(broker: Broker) -> None:
    broker.lead(TP)
    broker.fetch(TP, 0, replica_id=7)
    assert only(broker.fetched).error is Errors.NOT_LEADER_OR_FOLLOWER


def test_a_fetch_waits_for_data(broker: Broker) -> None:
    broker.lead(TP)
    broker.fetch(TP, 0, max_wait_ms=60_000)
    assert broker.fetched == []
    broker.produce(TP)
    assert offsets(only(broker.fetched)) == [0]


def test_a_fetch_waits_for_min_bytes(broker: Broker) -> None:
    broker.lead(TP)
    broker.fetch(TP, 0, min_bytes=400, max_wait_ms=60_000)
    for expected in (0, 0, 1):
        broker.produce(TP)
        assert len(broker.fetched) == expected
    assert offsets(only(broker.fetched)) == [0, 1, 2]


def test_a_fetch_waits_for_no_more_than_min_bytes(broker: Broker) -> None:
    broker.lead(TP)
    broker.produce(TP)
    batch = broker.log(TP).size
    broker.fetch(TP, 0, min_bytes=batch, max_wait_ms=60_000)
    broker.fetch(TP, 1, min_bytes=batch, max_wait_ms=60_000)
    assert [offsets(result) for ((_, result),) in broker.fetched] == [[0]]
    broker.produce(TP)
    assert [offsets(result) for ((_, result),) in broker.fetched] == [[0], [1]]


def test_a_fetch_from_beyond_the_high_watermark_does_not_wait(broker: Broker) -> None:
    """As in Kafka, which takes the log to be truncated: the client must learn that soon."""
    broker.lead(TP, isr=(1, 2))
    broker.produce(TP, 3, acks=1)
    broker.fetch(TP, 2, max_wait_ms=60_000)
    assert offsets(only(broker.fetched)) == []


def test_a_reader_of_committed_records_waits_beyond_the_last_stable_offset(broker: Broker) -> None:
    broker.lead(TP, isr=(1, 2))
    broker.produce(TP, 3, acks=1)
    broker.fetch(TP, 2, max_wait_ms=60_000, committed_only=True)
    assert broker.fetched == []


def test_no_partition_counts_for_more_than_its_own_limit_while_a_fetch_waits(broker: Broker) -> None:
    broker.lead(TP)
    broker.fetch(TP, 0, min_bytes=101, max_bytes=100, max_wait_ms=60_000)
    broker.produce(TP, 3)
    assert broker.fetched == []


def test_a_waiting_fetch_completes_once_its_segment_is_full(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "logs", segment_bytes=500)
    broker.lead(TP)
    broker.fetch(TP, 0, min_bytes=1 << 20, max_wait_ms=60_000)
    while len(broker.log(TP).segments) == 1:
        assert broker.fetched == []
        broker.produce(TP)
    assert offsets(only(broker.fetched))[0] == 0
    broker.close()


@pytest.mark.parametrize(("epoch", "error"), [(4, Errors.FENCED_LEADER_EPOCH), (6, Errors.UNKNOWN_LEADER_EPOCH)])
def test_a_fetch_in_another_leader_epoch_is_an_error(broker: Broker, epoch: int, error: Errors) -> None:
    broker.lead(TP, epoch=5)
    broker.fetch(TP, 0, epoch=epoch, max_wait_ms=60_000)
    assert only(broker.fetched).error is error


def test_a_waiting_fetch_completes_when_the_leader_epoch_rises(broker: Broker) -> None:
    broker.lead(TP, epoch=5)
    broker.fetch(TP, 0, epoch=5, max_wait_ms=60_000)
    assert broker.fetched == []
    broker.lead(TP, epoch=6)
    assert only(broker.fetched).error is Errors.FENCED_LEADER_EPOCH


def test_unknown_partitions_are_last_in_a_response(broker: Broker) -> None:
    broker.lead(TP1)
    infos = [(tp, FetchPartition(0, 1 << 20)) for tp in (TP, TP1)]
    broker.replicas.fetch_messages(FetchParams(-1, 0, 1, 1 << 20, False), infos, broker.fetched.append)
    assert [tp for tp, _ in broker.fetched[0]] == [TP1, TP]


def test_a_waiting_fetch_completes_when_the_partition_is_deleted(broker: Broker) -> None:
    broker.lead(TP)
    broker.fetch(TP, 0, max_wait_ms=60_000)
    broker.stop(TP, delete=True)
    assert only(broker.fetched).error is Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert broker.logs.get_log(TP) is None


def test_a_waiting_fetch_completes_when_leadership_is_lost(broker: Broker) -> None:
    broker.lead(TP)
    broker.fetch(TP, 0, max_wait_ms=60_000)
    broker.lead(TP, leader=2, epoch=1, isr=(2, 1))
    assert only(broker.fetched).error is Errors.NOT_LEADER_OR_FOLLOWER


class TestLimits:
    def read(self, broker: Broker, max_bytes: int, partition_bytes: int, hard: bool) -> list[int]:
        params = FetchParams(-1, 0, 1, max_bytes, hard)
        infos = [(tp, FetchPartition(0, partition_bytes)) for tp in (TP, TP1)]
        return [result.size_in_bytes for _, result in broker.replicas.read_from_local_logs(params, infos)]

    @pytest.fixture(autouse=True)
    def two_partitions(self, broker: Broker) -> None:
        broker.lead(TP, TP1)
        for tp in (TP, TP1):
            for _ in range(3):
                broker.produce(tp)
        self.batch = broker.replicas.get_leader_log(TP)[2].size // 3

    def test_without_a_request_limit_every_partition_fills_its_own(self, broker: Broker) -> None:
        assert self.read(broker, 1 << 20, 1 << 20, False) == [3 * self.batch, 3 * self.batch]

    def test_partitions_share_the_limit_of_the_request(self, broker: Broker) -> None:
        assert self.read(broker, 4 * self.batch, 1 << 20, False) == [3 * self.batch, self.batch]

    def test_only_the_first_batch_may_exceed_the_limits(self, broker: Broker) -> None:
        assert self.read(broker, 1, 1, False) == [self.batch, 0]

    def test_requests_before_version_3_get_incomplete_batches(self, broker: Broker) -> None:
        assert self.read(broker, 10, 10, True) == [10, 0]

    @pytest.mark.parametrize("hard", [False, True])
    def test_no_response_consists_of_part_of_a_batch_only(self, broker: Broker, hard: bool) -> None:
        """Java's consumer would fail with an error: a broker with Fetch v3 never sends such a response."""
        assert self.read(broker, 3 * self.batch + 10, 1 << 20, hard) == [3 * self.batch, 0]

    def test_complete_batches_may_be_followed_by_part_of_one(self, broker: Broker) -> None:
        assert self.read(broker, 4 * self.batch + 10, 1 << 20, False) == [3 * self.batch, self.batch + 10]


class IsrStoreOfADeletedPartition:
    """Writes an ISR, and has the controller delete the partition before the write returns."""

    broker: Broker

    def update_partition_state(self, topic_partition: TopicPartition, _state: LeaderIsrAndControllerEpoch) -> int:
        assert self.broker.stop(topic_partition, delete=True) == [0, 0]
        return 1

    def propagate_isr_changes(self, partitions: Collection[TopicPartition]) -> None: ...


def test_an_isr_change_is_counted_even_if_the_partition_is_deleted_meanwhile(tmp_path: Path) -> None:
    store = IsrStoreOfADeletedPartition()
    store.broker = broker = Broker(tmp_path / "logs", isr_store=store)
    broker.lead(TP, isr=(1, 2))
    broker.produce(TP, acks=1)
    broker.time.sleep(broker.replicas.config.replica_lag_time_max_ms + 1)
    broker.replicas.maybe_shrink_isrs()
    metrics = broker.replicas.metrics
    assert (metrics.isr_shrink_rate.count, metrics.isr_expand_rate.count) == (1, 0)
    broker.close()


class StoredIsrs:
    """Writes ISRs as ``version``; None: the controller has written since."""

    def __init__(self, version: int | None = 1) -> None:
        self.version = version

    def update_partition_state(self, _partition: TopicPartition, _state: LeaderIsrAndControllerEpoch) -> int | None:
        return self.version

    def propagate_isr_changes(self, partitions: Collection[TopicPartition]) -> None: ...


def test_a_produce_waits_for_a_follower_only_until_it_leaves_the_isr(tmp_path: Path) -> None:
    """The ISRs are checked twice in replica.lag.time.max.ms."""
    broker = Broker(tmp_path / "logs", isr_store=StoredIsrs())
    lag_ms = broker.replicas.config.replica_lag_time_max_ms
    broker.lead(TP, isr=(1, 2))
    broker.produce(TP, acks=-1)
    broker.time.sleep(lag_ms)
    assert broker.produced == []
    broker.time.sleep(lag_ms // 2)
    assert [response[TP].error for response in broker.produced] == [Errors.NONE]
    broker.close()


def test_an_isr_change_that_was_not_written_is_not_counted(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "logs", isr_store=StoredIsrs(None))
    broker.lead(TP, isr=(1, 2))
    broker.produce(TP, acks=1)
    broker.time.sleep(2 * broker.replicas.config.replica_lag_time_max_ms)
    assert broker.replicas.metrics.isr_shrink_rate.count == 0
    broker.close()


class TestDeleteRecords:
    def test_internal_topics_keep_their_records(self, broker: Broker) -> None:
        offsets_topic = TopicPartition("__consumer_offsets", 0)
        broker.lead(offsets_topic)
        with pytest.raises(ApiError) as refused:
            broker.replicas.delete_records(offsets_topic, 0)
        assert refused.value.error is Errors.INVALID_TOPIC_EXCEPTION

    def test_delete_records_advances_the_log_start_offset(self, broker: Broker) -> None:
        broker.lead(TP)
        broker.produce(TP, 5)
        assert broker.replicas.delete_records(TP, 2) == 2
        assert broker.replicas.delete_records(TP, 1) == 2
        broker.fetch(TP, 1)
        assert only(broker.fetched).error is Errors.OFFSET_OUT_OF_RANGE
        assert broker.replicas.delete_records(TP, -1) == 5

    @pytest.mark.parametrize("offset", [6, -2])
    def test_delete_records_beyond_the_high_watermark_is_out_of_range(self, broker: Broker, offset: int) -> None:
        broker.lead(TP)
        broker.produce(TP, 5)
        with pytest.raises(ApiError) as refused:
            broker.replicas.delete_records(TP, offset)
        assert refused.value.error is Errors.OFFSET_OUT_OF_RANGE

    def test_delete_records_is_rejected_for_a_compacted_topic(self, tmp_path: Path) -> None:
        broker = Broker(tmp_path / "compacted", cleanup_policy="compact")
        broker.lead(TP)
        with pytest.raises(ApiError) as refused:
            broker.replicas.delete_records(TP, 0)
        assert refused.value.error is Errors.POLICY_VIOLATION
        broker.close()


def test_a_partition_with_enough_replicas_is_done_while_another_waits(broker: Broker) -> None:
    """When the time is up, only the other one has timed out."""
    broker.lead(TP, isr=(1, 2))
    broker.lead(TP1)
    for tp in (TP, TP1):
        broker.produce(tp, acks=1)
    statuses = {tp: ProducePartitionStatus(1, PartitionResponse(Errors.NONE), acks_pending=True) for tp in (TP, TP1)}
    assert not check_acks(statuses, broker.replicas.get_leader_partition)
    assert [status.acks_pending for status in statuses.values()] == [True, False]


def throttled(broker: Broker) -> None:
    """Replica 2 is copied and not in sync; the quota is used up."""
    broker.replicas.quotas.leader.mark_throttled(TP.topic, [TP.partition])
    broker.replicas.quotas.leader.update_quota(1000)
    broker.replicas.quotas.leader.record(20_000)
    broker.lead(TP, isr=(1, 3), replicas=(1, 2, 3))
    broker.produce(TP, 2, acks=1)


def test_a_throttled_follower_gets_nothing_while_the_quota_is_used_up(broker: Broker) -> None:
    throttled(broker)
    broker.fetch(TP, 0, replica_id=2)
    assert (only(broker.fetched).error, only(broker.fetched).size_in_bytes) == (Errors.NONE, 0)
    broker.fetched.clear()
    broker.time.sleep(20_000)
    broker.fetch(TP, 0, replica_id=2)
    assert offsets(only(broker.fetched)) == [0, 1]


@pytest.mark.parametrize("replica_id", [3, -1])
def test_neither_followers_in_sync_nor_consumers_are_throttled(broker: Broker, replica_id: int) -> None:
    throttled(broker)
    broker.fetch(TP, 2, replica_id=3)  # moves the high watermark
    broker.fetched.clear()
    broker.fetch(TP, 0, replica_id=replica_id)
    assert offsets(only(broker.fetched)) == [0, 1]


def test_records_do_not_complete_the_long_poll_of_a_throttled_follower(broker: Broker) -> None:
    throttled(broker)
    broker.fetch(TP, 0, replica_id=2, max_wait_ms=600_000)
    broker.produce(TP, 2, acks=1)
    assert broker.fetched == []
    broker.replicas.quotas.leader.remove_throttle(TP.topic)
    broker.produce(TP, 2, acks=1)
    assert offsets(only(broker.fetched)) == [0, 1, 2, 3, 4, 5]


def test_its_metrics_are_in_the_registry_that_it_is_given(broker: Broker) -> None:
    registry = MetricsRegistry()
    new_replica_manager(broker.replicas.config, broker.logs, broker.scheduler, broker.time, registry=registry)
    assert "kafka.server:type=ReplicaManager,name=PartitionCount" in map(str, registry.beans())


def test_only_readers_of_committed_records_learn_the_aborted_transactions(broker: Broker) -> None:
    broker.lead(TP)
    broker.produce(TP)
    builder = MemoryRecordsBuilder(producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    builder.append(1000, None, b"v")
    broker.log(TP).append_as_leader(bytearray(builder.build()), 0)
    broker.produce(TP)
    for committed_only in (False, True):
        broker.fetch(TP, 0, committed_only=committed_only)
    everything, committed = (fetched[0][1] for fetched in broker.fetched)
    assert (everything.high_watermark, everything.last_stable_offset, everything.aborted_transactions) == (3, 1, None)
    assert (committed.high_watermark, committed.last_stable_offset, committed.aborted_transactions) == (3, 1, [])
    broker.fetched.clear()
    marker = EndTransactionMarker(ControlRecordType.ABORT, 0).to_batch(7, 0, 1000)
    broker.log(TP).append_as_leader(bytearray(marker), 0, AppendOrigin.COORDINATOR)
    broker.produce(TP)
    for committed_only in (False, True):
        broker.fetch(TP, 0, committed_only=committed_only)
    everything, committed = (fetched[0][1] for fetched in broker.fetched)
    assert (everything.last_stable_offset, everything.aborted_transactions) == (5, None)
    assert committed.aborted_transactions == [AbortedTxn(7, 1, 3, 4)]


def lead_twice(broker: Broker) -> None:
    """Two records in epoch 0, one in epoch 2; another broker follows."""
    broker.lead(TP, isr=(1, 2))
    broker.produce(TP, 2, acks=1)
    broker.lead(TP, isr=(1, 2), epoch=2)
    broker.produce(TP, 1, acks=1)


def test_a_follower_whose_log_diverges_is_told_where_at_once_and_counts_as_nowhere(broker: Broker) -> None:
    lead_twice(broker)
    broker.fetch(TP, 3, replica_id=2, max_wait_ms=60_000, last_epoch=1)
    result = only(broker.fetched)
    assert (result.error, result.diverging_epoch, offsets(result)) == (Errors.NONE, (0, 2), [])
    assert (result.high_watermark, result.log_start_offset) == (0, 0), "its end of 3 is not that of this log"


def test_a_follower_whose_log_agrees_gets_records(broker: Broker) -> None:
    lead_twice(broker)
    broker.fetch(TP, 2, replica_id=2, last_epoch=0)
    result = only(broker.fetched)
    assert (result.diverging_epoch, offsets(result)) == (None, [2])


def test_a_follower_with_an_epoch_that_nobody_knows_is_out_of_range(broker: Broker) -> None:
    lead_twice(broker)
    broker.fetch(TP, 2, replica_id=2, last_epoch=3)
    assert only(broker.fetched).error is Errors.OFFSET_OUT_OF_RANGE


def test_a_waiting_follower_learns_that_its_log_diverges_since_this_one_was_truncated(broker: Broker) -> None:
    lead_twice(broker)
    broker.fetch(TP, 3, replica_id=2, max_wait_ms=60_000, last_epoch=2)
    assert broker.fetched == []
    broker.log(TP).truncate_to(2)
    broker.lead(TP, isr=(1, 2), epoch=4)
    assert only(broker.fetched).diverging_epoch == (0, 2)
