"""Appends, fetches and the controller's requests, over real logs and without a socket."""

from __future__ import annotations

import errno
import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.cluster.broker import Broker as ClusterBroker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
)
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataPartitionState, UpdateMetadataRequest
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder, memory_records
from kafka_lite.record.records import batches
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.produce_status import PartitionResponse, ProducePartitionStatus, check_acks
from kafka_lite.server.quotas.replication_quota_manager import ReplicationQuotaManager, ReplicationType
from kafka_lite.server.replica_state_changes import ReplicaStateChanges
from kafka_lite.server.replication.isr_changes import IsrStore
from kafka_lite.server.replication.replica_alter_log_dirs import ReplicaAlterLogDirsThread
from kafka_lite.testing.replica_managers import new_replica_manager
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch
from tests.support.full_disk import FullDisk

TP, TP1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
Produced = dict[TopicPartition, PartitionResponse]
Fetched = list[tuple[TopicPartition, LogReadResult]]


class Broker:
    """A replica manager with its logs, and its responses."""

    def __init__(
        self,
        directory: Path,
        *others: Path,
        properties: Mapping[str, str] | None = None,
        isr_store: IsrStore | None = None,
        **topic_config: object,
    ) -> None:
        self.time = MockTime()
        self.directory = directory
        self.topic_config = {key.replace("_", "."): value for key, value in topic_config.items()}
        basics = {"broker.id": 1, "zookeeper.connect": "embedded", "log.dirs": str(directory)}
        config = KafkaConfig({**basics, **(properties or {})})
        self.scheduler = MockScheduler(self.time)
        self.logs = LogManager([directory, *others], {}, LogConfig(), self.scheduler, self.time)
        self.logs.startup()
        self.read_config: Callable[[str], LogConfig] = lambda _: LogConfig(self.topic_config)
        self.metadata_cache = MetadataCache(config.broker_id)
        self.replicas = new_replica_manager(
            config, self.logs, self.scheduler, self.time, isr_store=isr_store, metadata_cache=self.metadata_cache
        )
        self.alive: list[ClusterBroker] = []
        self.state_changes = ReplicaStateChanges(
            self.replicas, lambda topic: self.read_config(topic), lambda: self.alive
        )
        self.replicas.startup()
        self.produced: list[Produced] = []
        self.fetched: list[Fetched] = []

    def lead(
        self,
        *partitions: TopicPartition,
        leader: int = 1,
        epoch: int = 0,
        isr: tuple[int, ...] = (1,),
        controller: int = 1,
        new: bool = False,
        live: tuple[int, ...] = (),
        replicas: tuple[int, ...] = (),
    ) -> list[int]:
        states = [
            LeaderAndIsrPartitionState(
                topic_name=tp.topic, partition_index=tp.partition, controller_epoch=controller, leader=leader,
                leader_epoch=epoch, isr=list(isr), partition_epoch=0, replicas=sorted({1, *isr, *replicas}),
                is_new=new,
            )
            for tp in partitions
        ]  # fmt: skip
        request = LeaderAndIsrRequest(
            controller_id=1, controller_epoch=controller, ungrouped_partition_states=states,
            live_leaders=[LeaderAndIsrLiveLeader(broker_id=each, host_name="127.0.0.1", port=1) for each in live],
        )  # fmt: skip
        response = self.state_changes.become_leader_or_follower(request)
        return [response.error_code, *(partition.error_code for partition in response.partition_errors)]

    def stop(self, tp: TopicPartition, delete: bool, controller: int = 1) -> list[int]:
        request = StopReplicaRequest(
            controller_id=1, controller_epoch=controller, delete_partitions=delete,
            ungrouped_partitions=[StopReplicaPartitionV0(topic_name=tp.topic, partition_index=tp.partition)],
        )  # fmt: skip
        response = self.state_changes.stop_replicas(request)
        return [response.error_code, *(partition.error_code for partition in response.partition_errors)]

    def stop_in_epoch(self, tp: TopicPartition, epoch: int) -> list[int]:
        """Delete it, as controllers do since Kafka 2.6."""
        state = StopReplicaPartitionState(partition_index=tp.partition, leader_epoch=epoch, delete_partition=True)
        topic = StopReplicaTopicState(topic_name=tp.topic, partition_states=[state])
        request = StopReplicaRequest(controller_id=1, controller_epoch=1, topic_states=[topic])
        return [each.error_code for each in self.state_changes.stop_replicas(request).partition_errors]

    @property
    def followed(self) -> int:
        """How many partitions are fetched from leaders."""
        return sum(fetcher.partition_count for fetcher in self.replicas.fetchers.fetcher_thread_map.values())

    def log(self, tp: TopicPartition) -> Log:
        return self.replicas.get_leader_log(tp)[2]

    def local_log(self, tp: TopicPartition) -> Log:
        partition = self.replicas.get_partition(tp)
        assert partition is not None
        assert partition.log is not None
        return partition.log

    def produce(self, tp: TopicPartition, count: int = 1, acks: int = -1, internal: bool = False) -> None:
        builder = MemoryRecordsBuilder(2, CompressionType.NONE)
        for i in range(count):
            builder.append(i, None, b"x" * 100)
        self.replicas.append_records(1000, acks, internal, {tp: builder.build()}, self.produced.append)

    def fetch(
        self, tp: TopicPartition, offset: int, min_bytes: int = 1, max_wait_ms: int = 0, max_bytes: int = 1 << 20,
        replica_id: int = -1, hard: bool = False, committed_only: bool = False, epoch: int = -1,
    ) -> None:  # fmt: skip
        params = FetchParams(replica_id, max_wait_ms, min_bytes, max_bytes, hard, committed_only)
        asked = FetchPartition(offset, max_bytes, current_leader_epoch=epoch)
        self.replicas.fetch_messages(params, [(tp, asked)], self.fetched.append)

    def close(self) -> None:
        self.replicas.shutdown()
        self.logs.shutdown()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path / "logs")
    yield broker
    broker.close()


def only(results: list[Fetched]) -> LogReadResult:
    assert len(results) == 1
    return results[0][0][1]


def offsets(result: LogReadResult) -> list[int]:
    data = result.records if isinstance(result.records, bytes) else result.records.to_bytes()  # type: ignore[union-attr]
    return [record.offset for batch in batches(data) for record in batch.records()]


def test_appended_records_are_read_back(broker: Broker) -> None:
    assert broker.lead(TP) == [0, 0]
    broker.produce(TP, 3)
    assert broker.produced == [{TP: PartitionResponse(Errors.NONE, 0, -1, 0)}]
    broker.fetch(TP, 0)
    result = only(broker.fetched)
    assert (result.error, result.high_watermark, result.log_start_offset) == (Errors.NONE, 3, 0)
    assert offsets(result) == [0, 1, 2]


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


class TestControllersOrders:
    def test_a_stale_controller_is_rejected(self, broker: Broker) -> None:
        broker.lead(TP, controller=5)
        assert broker.lead(TP1, controller=4) == [Errors.STALE_CONTROLLER_EPOCH.code]
        assert broker.replicas.get_partition(TP1) is None

    def test_a_controller_that_has_only_stopped_replicas_fences_older_ones(self, broker: Broker) -> None:
        broker.stop(TP, delete=False, controller=5)
        assert broker.lead(TP, controller=4) == [Errors.STALE_CONTROLLER_EPOCH.code]
        assert broker.stop(TP, delete=True, controller=4) == [Errors.STALE_CONTROLLER_EPOCH.code]

    def test_a_follower_that_becomes_the_leader_fetches_no_more(self, broker: Broker) -> None:
        broker.lead(TP, leader=2, isr=(1, 2), live=(2,))
        assert broker.followed == 1
        broker.lead(TP, epoch=1)
        assert broker.followed == 0

    @pytest.mark.parametrize("delete", [False, True])
    def test_a_stopped_replica_fetches_no_more(self, broker: Broker, delete: bool) -> None:
        broker.lead(TP, leader=2, isr=(1, 2), live=(2,))
        broker.stop(TP, delete)
        assert broker.followed == 0

    def test_an_old_leader_epoch_is_ignored(self, broker: Broker) -> None:
        broker.lead(TP, epoch=3)
        assert broker.lead(TP, epoch=3, leader=2, isr=(2, 1)) == [0, Errors.STALE_CONTROLLER_EPOCH.code]
        partition = broker.replicas.get_partition(TP)
        assert partition is not None
        assert partition.leader_id == 1

    def test_a_partition_without_our_replica_is_rejected(self, broker: Broker) -> None:
        state = LeaderAndIsrPartitionState(topic_name="t", partition_index=0, leader=2, isr=[2], replicas=[2])
        request = LeaderAndIsrRequest(controller_id=1, controller_epoch=1, ungrouped_partition_states=[state])
        response = broker.state_changes.become_leader_or_follower(request)
        assert response.partition_errors[0].error_code == Errors.UNKNOWN_TOPIC_OR_PARTITION.code

    @pytest.mark.parametrize("partitions", [(TP,), (TP, TP1)])
    def test_a_config_change_while_logs_are_created_is_not_lost(
        self, broker: Broker, partitions: tuple[TopicPartition, ...]
    ) -> None:
        """KAFKA-8813: the change came after the config had been read, and its notification before the log existed."""
        reads: list[str] = []

        def read(topic: str) -> LogConfig:
            reads.append(topic)
            if len(reads) > 1:
                return LogConfig({"retention.ms": 2})
            broker.logs.update_topic_config(topic, LogConfig({"retention.ms": 2}))
            return LogConfig({"retention.ms": 1})

        broker.read_config = read
        assert broker.lead(*partitions) == [0, *(0 for _ in partitions)]
        assert [broker.log(tp).config.retention_ms for tp in partitions] == [2 for _ in partitions]
        assert reads == ["orders", "orders"]

    def test_a_config_change_between_two_partitions_of_a_request_is_not_lost(
        self, broker: Broker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        create = broker.logs.get_or_create_log

        def create_and_alter(tp: TopicPartition, *args: Any) -> Log:
            log = create(tp, *args)
            if tp == TP:
                broker.topic_config = {"retention.ms": 2}
                broker.logs.update_topic_config(tp.topic, LogConfig(broker.topic_config))
            return log

        monkeypatch.setattr(broker.logs, "get_or_create_log", create_and_alter)
        broker.topic_config = {"retention.ms": 1}
        broker.lead(TP, TP1)
        assert [broker.log(tp).config.retention_ms for tp in (TP, TP1)] == [2, 2]

    def test_an_unwritable_directory_is_a_storage_error(self, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise OSError("disk on fire")

        monkeypatch.setattr(broker.logs, "get_or_create_log", fail)
        assert broker.lead(TP) == [0, Errors.KAFKA_STORAGE_ERROR.code]
        assert broker.replicas.get_partition(TP) is None

    def test_a_log_that_cannot_be_deleted_is_a_storage_error(self, broker: Broker) -> None:
        broker.lead(TP)
        shutil.rmtree(broker.directory / "orders-0")
        assert broker.stop(TP, delete=True) == [0, Errors.KAFKA_STORAGE_ERROR.code]


class TestFollowersWithoutLeaderEpochs:
    """Followers that cannot ask for the ends of epochs."""

    @pytest.fixture
    def follower(self, tmp_path: Path) -> Iterator[Broker]:
        """It follows broker 2, knows that three messages are committed, and has fetched two more."""
        versions = {"inter.broker.protocol.version": "0.10.2", "log.message.format.version": "0.10.2"}
        broker = Broker(tmp_path / "logs", properties=versions)
        broker.lead(TP)
        broker.produce(TP, 3)
        broker.lead(TP, leader=2, epoch=1, isr=(1, 2), live=(2,))
        builder = MemoryRecordsBuilder(1, CompressionType.NONE, base_offset=3)
        for i in range(2):
            builder.append(i, None, b"x")
        broker.local_log(TP).append_as_follower(builder.build())
        yield broker
        broker.close()

    def test_a_new_leaders_follower_keeps_what_it_knows_to_be_committed(self, follower: Broker) -> None:
        assert follower.local_log(TP).log_end_offset == 5
        follower.lead(TP, leader=3, epoch=2, isr=(1, 3), live=(3,))
        assert follower.local_log(TP).log_end_offset == 3

    def test_nothing_is_truncated_under_the_same_leader(self, follower: Broker) -> None:
        follower.lead(TP, leader=2, epoch=2, isr=(1, 2), live=(2,))
        assert follower.local_log(TP).log_end_offset == 5

    def test_nothing_is_truncated_without_a_leader(self, follower: Broker) -> None:
        follower.lead(TP, leader=-1, epoch=2, isr=(2,))
        assert follower.local_log(TP).log_end_offset == 5

    def test_a_leader_that_was_away_at_first_is_a_new_one(self, follower: Broker) -> None:
        follower.lead(TP, leader=3, epoch=2, isr=(3,))
        assert follower.local_log(TP).log_end_offset == 5
        follower.lead(TP, leader=3, epoch=3, isr=(3,), live=(3,))
        assert follower.local_log(TP).log_end_offset == 3, "its end was fetched from broker 2"

    def test_nothing_is_truncated_when_the_leader_was_only_away(self, follower: Broker) -> None:
        follower.lead(TP, leader=2, epoch=2, isr=(1, 2))
        follower.lead(TP, leader=2, epoch=2, isr=(1, 2), live=(2,))
        assert follower.local_log(TP).log_end_offset == 5


class TestFailedDisks:
    @pytest.fixture
    def broker(self, tmp_path: Path) -> Iterator[Broker]:
        broker = Broker(tmp_path / "one", tmp_path / "two")
        broker.lead(TP, TP1, new=True)
        yield broker
        broker.close()

    def fail(self, broker: Broker, directory: Path) -> None:
        broker.logs.log_dir_failure_channel.maybe_add_offline_log_dir(
            directory, "test", OSError(errno.EIO, "I/O error")
        )
        broker.state_changes.take_offline(broker.logs.handle_log_dir_failure(directory))

    def test_an_offline_partition_is_not_recreated_in_another_directory(self, broker: Broker) -> None:
        """With an empty log, consumers would learn that all messages are gone, and get new ones at old offsets."""
        broker.produce(TP, 3)
        directory = broker.log(TP).dir.parent
        self.fail(broker, directory)
        assert broker.lead(TP, epoch=1) == [0, Errors.KAFKA_STORAGE_ERROR.code]
        broker.fetch(TP, 0)
        assert only(broker.fetched).error is Errors.KAFKA_STORAGE_ERROR
        assert broker.lead(TP1, epoch=1) == [0, 0], "its disk works"

    def test_a_follower_on_a_failed_disk_fetches_no_more(self, broker: Broker) -> None:
        directory = broker.log(TP).dir.parent
        broker.lead(TP, leader=2, epoch=1, isr=(1, 2), live=(2,))
        assert broker.followed == 1
        self.fail(broker, directory)
        assert broker.followed == 0

    def test_a_waiting_produce_fails_with_its_disk(self, broker: Broker) -> None:
        broker.lead(TP, epoch=1, isr=(1, 2))
        broker.produce(TP, 1, acks=-1)
        assert not broker.produced, "the follower has not fetched it"
        self.fail(broker, broker.log(TP).dir.parent)
        assert [answer[TP].error for answer in broker.produced] == [Errors.KAFKA_STORAGE_ERROR]

    def test_an_offline_partition_is_not_recreated_after_a_restart(self, broker: Broker) -> None:
        lost, kept = broker.log(TP).dir.parent, broker.log(TP1).dir.parent
        broker.close()
        shutil.rmtree(lost)
        lost.write_text("no directory")
        again = Broker(kept, lost)
        assert again.lead(TP, TP1, epoch=1) == [0, Errors.KAFKA_STORAGE_ERROR.code, 0]
        assert again.lead(TopicPartition("new", 0), new=True) == [0, 0]
        again.fetch(TP, 0)
        assert only(again.fetched).error is Errors.KAFKA_STORAGE_ERROR
        again.close()

    def test_an_offline_partition_cannot_be_deleted(self, broker: Broker) -> None:
        """Otherwise the disk would return with a deleted topic's log, and a new topic of that name would get it."""
        self.fail(broker, broker.log(TP).dir.parent)
        assert broker.stop(TP, delete=True) == [0, Errors.KAFKA_STORAGE_ERROR.code]

    def test_no_high_watermarks_are_written_to_a_failed_disk(
        self, broker: Broker, caplog: pytest.LogCaptureFixture
    ) -> None:
        directory = broker.log(TP).dir.parent
        self.fail(broker, directory)
        shutil.rmtree(directory)
        broker.replicas.high_watermark_checkpoints.write()
        assert "Cannot write the high watermarks" not in caplog.text


class TestMovesBetweenDirectories:
    @pytest.fixture
    def broker(self, tmp_path: Path) -> Iterator[Broker]:
        """Its own thread for moves does not run any more."""
        broker = Broker(tmp_path / "one", tmp_path / "two")
        broker.lead(TP)
        broker.produce(TP, 3)
        broker.replicas.log_dir_moves.shutdown()
        yield broker
        broker.close()

    def other_directory(self, broker: Broker) -> Path:
        return next(each for each in broker.logs.live_log_dirs if each != broker.log(TP).dir.parent)

    def test_a_move_back_takes_the_copy_away(self, broker: Broker) -> None:
        here, there = broker.log(TP).dir.parent, self.other_directory(broker)
        assert broker.replicas.log_dir_moves.alter(str(there), [TP]) == {TP: Errors.NONE}
        copy = broker.logs.future_logs.get(TP)
        assert copy is not None
        assert copy.dir.parent == there
        assert broker.replicas.log_dir_moves.alter(str(here), [TP]) == {TP: Errors.NONE}
        assert broker.logs.future_logs.get(TP) is None

    def test_a_move_to_the_same_directory_goes_on(self, broker: Broker) -> None:
        there = self.other_directory(broker)
        broker.replicas.log_dir_moves.alter(str(there), [TP])
        copy = broker.logs.future_logs.get(TP)
        assert broker.replicas.log_dir_moves.alter(str(there), [TP]) == {TP: Errors.NONE}
        assert broker.logs.future_logs.get(TP) is copy
        assert copy is not None

    def test_a_move_that_is_impossible_is_an_error_of_its_partition(self, broker: Broker) -> None:
        moves, there = broker.replicas.log_dir_moves, self.other_directory(broker)
        assert moves.alter(str(there / "not"), [TP]) == {TP: Errors.LOG_DIR_NOT_FOUND}
        assert moves.alter(str(there), [TP1, TP]) == {TP1: Errors.REPLICA_NOT_AVAILABLE, TP: Errors.NONE}
        broker.lead(TP1)
        assert broker.log(TP1).dir.parent == there, "a new replica goes where it was wanted"
        broker.replicas.mark_offline([TP])
        assert moves.alter(str(there), [TP]) == {TP: Errors.KAFKA_STORAGE_ERROR}

    def test_a_stopped_broker_starts_no_thread_for_a_move(self, broker: Broker) -> None:
        broker.replicas.log_dir_moves.alter(str(self.other_directory(broker)), [TP])
        assert "ReplicaAlterLogDirsThread" not in {thread.name for thread in threading.enumerate()}

    def test_a_copy_waits_for_its_quota_and_uses_it(self, broker: Broker) -> None:
        quota = ReplicationQuotaManager(ReplicationType.ALTER_LOG_DIRS, MetricConfig(11, 1000), broker.time)
        there, moved = self.other_directory(broker), list[TopicPartition]()
        mover = ReplicaAlterLogDirsThread(broker.logs, broker.replicas.get_partition, moved.append, broker.time, quota)
        broker.replicas.log_dir_moves.alter(str(there), [TP])
        copy = broker.logs.future_logs.get(TP)
        assert copy is not None
        quota.update_quota(1)
        quota.record(1000)
        mover.do_work()
        assert copy.log_end_offset == 0
        broker.time.sleep(20_000)
        mover.do_work()
        assert (copy.log_end_offset, quota.is_quota_exceeded, moved) == (3, True, [])
        broker.time.sleep(1_000_000)
        mover.do_work()
        assert (broker.log(TP), moved) == (copy, [TP])


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


def test_high_watermarks_survive_a_restart(tmp_path: Path) -> None:
    first = Broker(tmp_path / "logs")
    first.lead(TP, isr=(1, 2))
    first.produce(TP, 5, acks=1)
    first.fetch(TP, 3, replica_id=2)
    first.close()
    assert (tmp_path / "logs" / "replication-offset-checkpoint").read_text().splitlines() == ["0", "1", "orders 0 3"]
    second = Broker(tmp_path / "logs")
    second.lead(TP, isr=(1, 2), epoch=1)
    second.fetch(TP, 0)
    assert only(second.fetched).high_watermark == 3
    second.fetched.clear()
    second.fetch(TP, 0, min_bytes=1 << 20, max_wait_ms=60_000)
    assert only(second.fetched).high_watermark == 3, "its place in the file is not known, so nothing is added up"
    second.close()


def test_a_broker_that_no_controller_has_reached_keeps_the_high_watermarks_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "replication-offset-checkpoint"
    file.write_text("0\n1\norders 0 3\n")
    Broker(tmp_path).close()
    assert file.read_text() == "0\n1\norders 0 3\n"


def test_a_partition_with_enough_replicas_is_done_while_another_waits(broker: Broker) -> None:
    """When the time is up, only the other one has timed out."""
    broker.lead(TP, isr=(1, 2))
    broker.lead(TP1)
    for tp in (TP, TP1):
        broker.produce(tp, acks=1)
    statuses = {tp: ProducePartitionStatus(1, PartitionResponse(Errors.NONE), acks_pending=True) for tp in (TP, TP1)}
    assert not check_acks(statuses, broker.replicas.get_leader_partition)
    assert [status.acks_pending for status in statuses.values()] == [True, False]


def test_logs_that_did_not_fit_on_the_disk_are_created_once_there_is_space(
    tmp_path: Path, full_disk: FullDisk, caplog: pytest.LogCaptureFixture
) -> None:
    broker = Broker(tmp_path)
    full_disk.fill()
    storage_error = Errors.KAFKA_STORAGE_ERROR.code
    assert broker.lead(TP, TP1) == [0, storage_error, storage_error]
    failure = broker.replicas.missing_logs.failure_of(TP.topic)
    assert failure is not None
    assert "2 of its partitions have no log yet" in failure
    assert "No space left on device" in failure
    with pytest.raises(ApiError, match="No space left on device") as raised:
        broker.replicas.get_leader_partition(TP)
    assert raised.value.error is Errors.KAFKA_STORAGE_ERROR
    assert broker.lead(TopicPartition("another", 0)) == [0, storage_error]
    assert broker.state_changes.make_missing_logs() == []
    assert len([record for record in caplog.records if record.levelname == "ERROR"]) == 2, caplog.text
    assert not [path for path in tmp_path.iterdir() if path.is_dir()], "the failed attempt leaves nothing behind"
    full_disk.make_room()
    made = broker.state_changes.make_missing_logs()
    assert set(made) == {TP, TP1, TopicPartition("another", 0)}
    assert broker.replicas.missing_logs.failure_of(TP.topic) is None
    assert broker.replicas.get_leader_partition(TP1).log is not None
    broker.close()


def test_a_partition_whose_new_epoch_did_not_fit_on_the_disk_is_not_served(broker: Broker) -> None:
    broker.lead(TP)
    temporary = broker.log(TP).dir / "leader-epoch-checkpoint.tmp"
    temporary.symlink_to("/dev/full")
    assert broker.lead(TP, epoch=1) == [0, Errors.KAFKA_STORAGE_ERROR.code]
    assert broker.replicas.get_partition(TP) is None
    temporary.unlink(missing_ok=True)
    assert broker.state_changes.make_missing_logs() == [TP]
    assert broker.log(TP).latest_epoch == 1


def test_a_follower_whose_log_did_not_fit_fetches_once_there_is_space(tmp_path: Path, full_disk: FullDisk) -> None:
    broker = Broker(tmp_path)
    full_disk.fill()
    assert broker.lead(TP, leader=2, isr=(2,), live=(2,)) == [0, Errors.KAFKA_STORAGE_ERROR.code]
    full_disk.make_room()
    broker.alive = [ClusterBroker(2, (EndPoint.parse("PLAINTEXT://127.0.0.1:1"),))]
    assert broker.state_changes.make_missing_logs() == [TP]
    (fetcher,) = broker.replicas.fetchers.fetcher_thread_map.values()
    assert (fetcher.source_broker.id, fetcher.partition_count) == (2, 1)
    broker.close()


def test_a_follower_whose_leader_was_away_follows_it_in_the_same_epoch(broker: Broker) -> None:
    """The controller dies with its leader away. The next one finds the leader alive, and repeats the state as it is."""
    broker.lead(TP, TP1, leader=2, isr=(2,), controller=1)
    assert not broker.replicas.fetchers.fetcher_thread_map
    assert broker.lead(TP, TP1, leader=2, isr=(2,), controller=2, live=(2,)) == [0, 0, 0]
    (fetcher,) = broker.replicas.fetchers.fetcher_thread_map.values()
    assert (fetcher.source_broker.id, fetcher.partition_count) == (2, 2)


def test_a_follower_that_has_its_leader_ignores_the_same_epoch(broker: Broker) -> None:
    broker.lead(TP, leader=2, isr=(2,))
    broker.lead(TP, leader=2, isr=(2,), live=(2,))
    assert broker.lead(TP, leader=2, isr=(2,), live=(2,)) == [0, Errors.STALE_CONTROLLER_EPOCH.code]


def test_a_pending_log_is_not_created_for_a_deleted_partition(tmp_path: Path, full_disk: FullDisk) -> None:
    broker = Broker(tmp_path)
    full_disk.fill()
    broker.lead(TP, TP1)
    broker.stop(TP, delete=True)
    full_disk.make_room()
    assert broker.state_changes.make_missing_logs() == [TP1]
    assert broker.logs.get_log(TP) is None
    broker.close()


def test_a_stopping_broker_creates_no_pending_logs(tmp_path: Path) -> None:
    broker = Broker(tmp_path)
    broker.state_changes.stop_taking_orders()
    assert broker.lead(TP) == [0, Errors.BROKER_NOT_AVAILABLE.code]
    assert broker.logs.get_log(TP) is None
    broker.close()


@pytest.mark.parametrize("content", [b"x\n", b"0\n3\n", b"0\n1\norders 0\n", b"\xff\xfe\0", b"0\n1\norders 0 x\n"])
def test_a_broker_starts_with_a_malformed_high_watermark_checkpoint(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "replication-offset-checkpoint"
    file.write_bytes(content)
    broker = Broker(tmp_path)
    (record,) = caplog.records
    assert (record.levelname, str(file) in record.getMessage()) == ("WARNING", True)
    broker.lead(TP)
    broker.replicas.high_watermark_checkpoints.write()
    assert file.read_text() == "0\n1\norders 0 0\n"
    broker.close()


def test_high_watermarks_that_did_not_fit_on_the_disk_are_written_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broker = Broker(tmp_path)
    broker.lead(TP)
    in_the_way = tmp_path / "replication-offset-checkpoint.tmp"
    in_the_way.symlink_to("/dev/full")
    broker.replicas.high_watermark_checkpoints.write()
    (record,) = caplog.records
    assert "No space left on device" in record.getMessage()
    assert record.exc_info is None
    broker.replicas.high_watermark_checkpoints.write()
    assert (tmp_path / "replication-offset-checkpoint").read_text() == "0\n1\norders 0 0\n"
    broker.close()


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


def test_a_stop_that_was_overtaken_by_a_newer_leader_epoch_is_fenced(broker: Broker) -> None:
    broker.lead(TP, epoch=5)
    broker.produce(TP)
    assert broker.stop_in_epoch(TP, 4) == [Errors.FENCED_LEADER_EPOCH.code]
    assert broker.log(TP).log_end_offset == 1
    assert broker.stop_in_epoch(TP, 5) == [Errors.NONE.code]
    assert broker.replicas.get_partition(TP) is None


@pytest.mark.parametrize("epoch", [-1, -2])
def test_an_unknown_epoch_and_that_of_a_deletion_stop_any_replica(broker: Broker, epoch: int) -> None:
    broker.lead(TP, epoch=5)
    assert broker.stop_in_epoch(TP, epoch) == [Errors.NONE.code]
    assert broker.replicas.get_partition(TP) is None


def test_a_stop_of_a_replica_that_is_not_here_is_no_error(broker: Broker) -> None:
    assert broker.stop_in_epoch(TP, 3) == [Errors.NONE.code]


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
