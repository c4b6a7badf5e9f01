"""ListOffsets, DeleteRecords and OffsetForLeaderEpoch over real logs, without a socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.protocol.messages import api_02_list_offsets as list_offsets
from kafka_lite.protocol.messages import api_21_delete_records as delete_records
from kafka_lite.protocol.messages import api_23_offset_for_leader_epoch as epochs
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder, memory_records
from kafka_lite.server.apis.log_offset_apis import LogOffsetApis
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.testing.replica_managers import new_replica_manager

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5
CONSUMER, DEBUGGING_CONSUMER = -1, -2
US, OTHER = 1, 0
LED, FOLLOWED, UNKNOWN = 0, 1, 9
NOTHING = (-1, -1)


class Apis:
    """A broker that leads t-0 and follows another in t-1, with four records in each, of the times 100, 200, …

    In t-0 two of them were written in epoch 3 and two in epoch 5, which lasts; two are committed.
    """

    def __init__(self, directory: Path) -> None:
        time = MockTime()
        config = KafkaConfig({"broker.id": str(US), "zookeeper.connect": "embedded", "log.dirs": str(directory)})
        scheduler = MockScheduler(time)
        self.logs = LogManager([directory], {}, LogConfig(), scheduler, time)
        self.logs.startup()
        self.replicas = new_replica_manager(config, self.logs, scheduler, time)
        self.apis = LogOffsetApis(self.replicas)
        self.led, self.followed = self.host(LED), self.host(FOLLOWED)
        for partition in (self.led, self.followed):
            for epoch, times in [(3, (100, 200)), (5, (300, 400))]:
                partition.make_leader(PartitionState(1, US, epoch, [US, OTHER], 0, [US, OTHER]))
                for timestamp in times:
                    batch = memory_records(2, CompressionType.NONE, [(b"k", b"v")], timestamp=timestamp)
                    partition.append_records_to_leader(batch, 1)
        self.led.update_follower_log_end_offset(OTHER, LogOffsetMetadata(2))
        self.followed.make_follower(PartitionState(1, OTHER, 6, [OTHER], 0, [US, OTHER]))

    def host(self, index: int) -> Partition:
        partition = self.replicas.new_partition(
            TopicPartition("t", index), lambda tp: self.logs.get_or_create_log(tp, LogConfig({"retention.ms": "-1"}))
        )
        self.replicas.host(partition)
        return partition

    def list(
        self,
        *asked: list_offsets.ListOffsetsPartition,
        version: int = 7,
        replica: int = CONSUMER,
        isolation_level: int = 0,
    ) -> list[list_offsets.ListOffsetsPartitionResponse]:
        topic = list_offsets.ListOffsetsTopic(name="t", partitions=list(asked))
        body = list_offsets.ListOffsetsRequest(replica_id=replica, isolation_level=isolation_level, topics=[topic])
        responses: list[Any] = []
        request = SimpleNamespace(header=SimpleNamespace(api_version=version))
        self.apis.handle_list_offsets(cast(Any, request), body, responses.append)
        ((answered,),) = [response.topics for response in responses]
        assert answered.name == "t"
        assert [each.partition_index for each in answered.partitions] == [each.partition_index for each in asked]
        return cast("list[list_offsets.ListOffsetsPartitionResponse]", answered.partitions)

    def offset(self, timestamp: int, version: int = 7, replica: int = CONSUMER) -> tuple[int, int]:
        """The offset for a time in t-0, and the error."""
        (found,) = self.list(at(timestamp), version=version, replica=replica)
        return found.offset, found.error_code

    def delete(self, index: int, offset: int) -> tuple[int, Errors]:
        asked = delete_records.DeleteRecordsPartition(partition_index=index, offset=offset)
        topic = delete_records.DeleteRecordsTopic(name="t", partitions=[asked])
        responses: list[Any] = []
        self.apis.handle_delete_records(
            cast(Any, None), delete_records.DeleteRecordsRequest(topics=[topic]), responses.append
        )
        (result,) = responses[0].topics[0].partitions
        assert (responses[0].topics[0].name, result.partition_index) == ("t", index)
        return result.low_watermark, Errors.for_code(result.error_code)

    def epoch_end(self, epoch: int, current: int = -1, index: int = LED) -> tuple[int, int, Errors]:
        asked = epochs.OffsetForLeaderPartition(partition=index, current_leader_epoch=current, leader_epoch=epoch)
        topic = epochs.OffsetForLeaderTopic(topic="t", partitions=[asked])
        responses: list[Any] = []
        self.apis.handle_offset_for_leader_epoch(
            cast(Any, None), epochs.OffsetForLeaderEpochRequest(topics=[topic]), responses.append
        )
        (result,) = responses[0].topics[0].partitions
        assert (responses[0].topics[0].topic, result.partition) == ("t", index)
        return result.leader_epoch, result.end_offset, Errors.for_code(result.error_code)


@pytest.fixture
def apis(tmp_path: Path) -> Iterator[Apis]:
    apis = Apis(tmp_path / "logs")
    yield apis
    apis.replicas.shutdown()
    apis.logs.shutdown()


def at(timestamp: int, index: int = LED, epoch: int = -1, count: int = 1) -> list_offsets.ListOffsetsPartition:
    return list_offsets.ListOffsetsPartition(
        partition_index=index, timestamp=timestamp, current_leader_epoch=epoch, max_num_offsets=count
    )


@pytest.mark.parametrize(("replica", "end"), [(CONSUMER, 2), (OTHER, 4)])
def test_the_latest_offset_of_a_consumer_is_the_high_watermark_and_of_a_follower_the_end(
    apis: Apis, replica: int, end: int
) -> None:
    assert apis.offset(LATEST, replica=replica) == (end, 0)


@pytest.mark.parametrize(
    ("timestamp", "offset"), [(0, 0), (100, 0), (101, 1), (200, 1), (201, -1), (400, -1), (401, -1)]
)
def test_a_consumer_finds_the_first_committed_record_that_is_not_older(apis: Apis, timestamp: int, offset: int) -> None:
    assert apis.offset(timestamp) == (offset, 0)


def test_a_follower_finds_records_that_are_not_committed(apis: Apis) -> None:
    assert apis.offset(201, replica=OTHER) == (2, 0)


def test_the_earliest_offset_is_found_even_if_nothing_after_it_is_committed(apis: Apis) -> None:
    assert apis.delete(LED, 2) == (2, Errors.NONE)
    assert apis.offset(EARLIEST) == (2, 0)


@pytest.mark.parametrize(
    ("timestamp", "version", "is_served"),
    [(LATEST, 1, True), (EARLIEST, 1, True), (MAX_TIMESTAMP, 6, False), (MAX_TIMESTAMP, 7, True),
     (EARLIEST_LOCAL, 7, False), (EARLIEST_LOCAL, 8, True), (LATEST_TIERED, 8, False), (LATEST_TIERED, 9, True),
     (-6, 10, False), (0, 1, True)],
)  # fmt: skip
def test_each_special_timestamp_has_its_first_version(
    apis: Apis, timestamp: int, version: int, is_served: bool
) -> None:
    _, error = apis.offset(timestamp, version)
    assert Errors.for_code(error) is (Errors.NONE if is_served else Errors.UNSUPPORTED_VERSION)


def test_a_timestamp_of_later_versions_is_refused_whatever_the_partition(apis: Apis) -> None:
    (found,) = apis.list(at(-6, index=99), version=10, replica=CONSUMER)
    assert Errors.for_code(found.error_code) is Errors.UNSUPPORTED_VERSION


@pytest.mark.parametrize(("timestamp", "epoch"), [(LATEST, 5), (EARLIEST, 3), (200, 3)])
@pytest.mark.parametrize("version", [3, 4])
def test_offsets_come_with_their_leader_epochs_from_version_4_on(
    apis: Apis, timestamp: int, epoch: int, version: int
) -> None:
    (found,) = apis.list(at(timestamp), version=version)
    assert found.leader_epoch == (epoch if version == 4 else -1)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (at(LATEST, epoch=5), Errors.NONE),
        (at(LATEST, epoch=4), Errors.FENCED_LEADER_EPOCH),
        (at(LATEST, epoch=6), Errors.UNKNOWN_LEADER_EPOCH),
        (at(LATEST, FOLLOWED), Errors.NOT_LEADER_OR_FOLLOWER),
        (at(LATEST, UNKNOWN), Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_whoever_asks_for_offsets_must_know_the_leader_and_its_epoch(
    apis: Apis, asked: list_offsets.ListOffsetsPartition, error: Errors
) -> None:
    (result,) = apis.list(asked)
    assert Errors.for_code(result.error_code) is error


@pytest.mark.parametrize("version", [0, 1])
def test_an_error_of_one_partition_does_not_affect_the_others(apis: Apis, version: int) -> None:
    results = apis.list(at(LATEST, FOLLOWED), at(LATEST, LED), version=version)
    assert [each.error_code for each in results] == [Errors.NOT_LEADER_OR_FOLLOWER.code, 0]


def test_a_tool_that_looks_at_each_replica_may_ask_a_follower(apis: Apis) -> None:
    (found,) = apis.list(at(EARLIEST, FOLLOWED), replica=DEBUGGING_CONSUMER)
    assert (found.offset, found.error_code) == (0, 0)
    (unknown,) = apis.list(at(EARLIEST, UNKNOWN), replica=DEBUGGING_CONSUMER)
    assert Errors.for_code(unknown.error_code) is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_a_partition_that_is_named_twice_is_refused_except_in_version_0(apis: Apis) -> None:
    asked = [at(LATEST), at(EARLIEST)]
    assert [each.error_code for each in apis.list(*asked, version=1)] == [Errors.INVALID_REQUEST.code] * 2
    assert [each.old_style_offsets for each in apis.list(*asked, version=0)] == [[2], [0]]


@pytest.mark.parametrize(("replica", "offsets"), [(CONSUMER, [2, 0]), (OTHER, [4, 0])])
def test_the_base_offsets_of_version_0_end_at_the_high_watermark_for_consumers(
    apis: Apis, replica: int, offsets: list[int]
) -> None:
    (found,) = apis.list(at(LATEST, count=5), version=0, replica=replica)
    assert found.old_style_offsets == offsets


def test_a_base_offset_at_the_high_watermark_is_named_once(apis: Apis) -> None:
    assert apis.led.log is not None
    apis.led.log.roll()
    apis.led.append_records_to_leader(memory_records(2, CompressionType.NONE, [(b"k", b"v")]), 1)
    apis.led.update_follower_log_end_offset(OTHER, LogOffsetMetadata(4))
    (found,) = apis.list(at(LATEST, count=5), version=0)
    assert found.old_style_offsets == [4, 0]


@pytest.mark.parametrize(("isolation_level", "end"), [(0, 5), (1, 4)])
def test_the_latest_offset_of_a_reader_of_committed_records_is_the_first_open_transaction(
    apis: Apis, isolation_level: int, end: int
) -> None:
    builder = MemoryRecordsBuilder(2, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    builder.append(500, b"k", b"v")
    apis.led.append_records_to_leader(builder.build(), 1, AppendOrigin.REPLICATION)
    apis.led.update_follower_log_end_offset(OTHER, LogOffsetMetadata(5))
    (found,) = apis.list(at(LATEST), isolation_level=isolation_level)
    assert found.offset == end


def test_records_are_deleted_up_to_the_high_watermark(apis: Apis) -> None:
    assert apis.delete(LED, 1) == (1, Errors.NONE)
    assert apis.offset(EARLIEST) == (1, 0)
    assert apis.delete(LED, 3) == (-1, Errors.OFFSET_OUT_OF_RANGE)
    assert apis.delete(LED, -1) == (2, Errors.NONE), "-1 stands for the high watermark"
    assert apis.delete(LED, 1) == (2, Errors.NONE), "what is deleted stays so"
    assert apis.delete(LED, -2) == (-1, Errors.OFFSET_OUT_OF_RANGE)


def test_records_are_deleted_by_the_leader_only(apis: Apis) -> None:
    assert apis.delete(FOLLOWED, 0) == (-1, Errors.NOT_LEADER_OR_FOLLOWER)
    assert apis.delete(UNKNOWN, 0) == (-1, Errors.UNKNOWN_TOPIC_OR_PARTITION)


@pytest.mark.parametrize(
    ("epoch", "end"), [(5, (5, 4)), (3, (3, 2)), (4, (3, 2)), (6, NOTHING), (2, (2, 0)), (-1, NOTHING)]
)
def test_an_epoch_ends_where_the_next_begins_and_the_last_at_the_end(
    apis: Apis, epoch: int, end: tuple[int, int]
) -> None:
    assert apis.epoch_end(epoch) == (*end, Errors.NONE)


def test_the_epoch_of_a_leader_ends_at_the_end_even_if_it_has_written_nothing(apis: Apis) -> None:
    apis.led.make_leader(PartitionState(1, US, 8, [US], 0, [US, OTHER]))
    assert apis.epoch_end(8) == (8, 4, Errors.NONE)


@pytest.mark.parametrize(
    ("current", "index", "error"),
    [
        (4, LED, Errors.FENCED_LEADER_EPOCH),
        (6, LED, Errors.UNKNOWN_LEADER_EPOCH),
        (-1, FOLLOWED, Errors.NOT_LEADER_OR_FOLLOWER),
        (-1, UNKNOWN, Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_who_asks_for_an_epoch_must_know_the_current_one_and_ask_the_leader(
    apis: Apis, current: int, index: int, error: Errors
) -> None:
    assert apis.epoch_end(5, current, index) == (*NOTHING, error)


def test_without_tiered_storage_the_local_log_is_the_whole_log_and_nothing_is_tiered(apis: Apis) -> None:
    assert apis.delete(LED, 2) == (2, Errors.NONE)
    assert apis.offset(EARLIEST_LOCAL, 8) == apis.offset(EARLIEST, 8) == (2, 0)
    assert apis.offset(LATEST_TIERED, 9) == (-1, 0)
