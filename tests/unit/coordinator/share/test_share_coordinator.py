"""The coordinator's partitions come and go; their logs are read, written together, and pruned."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.topic_names import SHARE_GROUP_STATE_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.share.persister import (
    PartitionAllData,
    PartitionErrorData,
    PartitionStateData,
    PartitionStateSummaryData,
    SharePartitionKey,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from tests.support.share_coordinators import AT_ONCE, GROUP, KEY, P0, P1, P2, TOPIC_ID, ShareCoordination, batch

OK = [PartitionErrorData()]


def test_keys_are_spread_as_kafka_spreads_them() -> None:
    share = ShareCoordination()
    assert KEY.as_coordinator_key() == "group:AAAAAAAAAAEAAAAAAAAAAA:0"
    found = [share.coordinator.partition_for(SharePartitionKey(GROUP, TOPIC_ID, number)) for number in range(4)]
    # "group:AAAAAAAAAAEAAAAAAAAAAA:0".hashCode() is odd or even with its last character.
    assert found in ([0, 1, 0, 1], [1, 0, 1, 0])


def test_another_coordinator_reads_what_this_one_wrote() -> None:
    share = ShareCoordination(config=dataclasses.replace(AT_ONCE, snapshot_update_records_per_snapshot=2))
    for partition in (P0, P1, P2):
        share.initialize(10, 1, partition)
    for number in range(5):
        share.write(batch(10 + number, 10 + number, 2), leader_epoch=3, state_epoch=1)
    share.delete(P2)
    other = ShareCoordination(share.log, share.time, epoch=1)
    assert other.read(leader_epoch=3) == [PartitionAllData(1, 10, (batch(10, 14, 2),))]
    assert other.read(leader_epoch=2)[0].error is Errors.FENCED_LEADER_EPOCH
    assert other.read(partition=P1) == [PartitionAllData(1, 10, ())]
    assert other.read(partition=P2)[0].error is Errors.INVALID_REQUEST
    assert other.initialize(state_epoch=0)[0].error is Errors.FENCED_STATE_EPOCH


def test_who_does_not_lead_is_no_coordinator() -> None:
    share = ShareCoordination(epoch=None)
    text = f"Unable to write share group state: {Errors.NOT_COORDINATOR.message}"
    assert share.write(batch(0, 1)) == [PartitionErrorData(Errors.NOT_COORDINATOR, text)]
    for responses in (share.initialize(), share.read(), share.delete(), share.summary()):
        assert [response.error for response in responses] == [Errors.NOT_COORDINATOR]


def test_a_partition_that_is_being_read_is_loading() -> None:
    share = ShareCoordination(epoch=None)
    share.log.high_watermark = -1
    share.elect(0)
    assert share.read()[0].error is Errors.COORDINATOR_LOAD_IN_PROGRESS
    share.log.high_watermark = None
    share.time.sleep(100)
    assert share.initialize() == OK


def test_after_a_resignation_nobody_is_served_and_writes_in_progress_are_refused() -> None:
    share = ShareCoordination()
    share.initialize()
    share.log.held = []
    written, read = share.write(batch(0, 1)), share.read()
    share.resign(1)
    assert written == [
        PartitionErrorData(
            Errors.NOT_COORDINATOR, f"Unable to write share group state: {Errors.NOT_COORDINATOR.message}"
        )
    ]
    assert [response.error for response in read] == [Errors.NOT_COORDINATOR]
    share.log.release()
    assert len(written) == 1
    assert share.write(batch(0, 1))[0].error is Errors.NOT_COORDINATOR


def test_an_older_resignation_changes_nothing() -> None:
    share = ShareCoordination(epoch=5)
    share.initialize()
    share.resign(4)
    assert share.write(batch(0, 1)) == OK
    share.resign(None)
    assert share.write(batch(0, 1))[0].error is Errors.NOT_COORDINATOR


def test_a_coordinator_that_has_not_started_is_not_available() -> None:
    share = ShareCoordination()
    share.coordinator.stop()
    expected = PartitionErrorData(Errors.COORDINATOR_NOT_AVAILABLE, "Share coordinator is not available.")
    assert share.write(batch(0, 1)) == [expected]
    with pytest.raises(ApiError):
        share.coordinator.partition_for(KEY)


def test_partitions_of_one_request_get_their_own_results() -> None:
    share = ShareCoordination()
    responses: list[Mapping[TopicIdPartition, PartitionErrorData]] = []
    missing = TopicIdPartition(TOPIC_ID, 3)
    data = {partition: PartitionStateData(0, 0) for partition in (P1, missing, P0)}
    share.coordinator.initialize_state(GROUP, data, responses.append)
    (response,) = responses
    assert list(response) == [P1, missing, P0]
    errors = [result.error for result in response.values()]
    assert errors == [Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NONE]


def test_a_request_without_partitions_is_responded_to() -> None:
    responses: list[object] = []
    ShareCoordination().coordinator.write_state(GROUP, {}, responses.append)
    assert responses == [{}]


def test_writes_wait_for_others_to_be_appended_with_them() -> None:
    share = ShareCoordination(config=dataclasses.replace(AT_ONCE, append_linger_ms=5))
    first, second = share.initialize(), share.write(batch(0, 1))
    assert (first, second) == ([], [])
    share.time.sleep(5)
    assert (first, second) == (OK, OK)
    written = [share.log.log(TopicPartition(SHARE_GROUP_STATE_TOPIC_NAME, number)) for number in range(2)]
    assert sum(len(log.batches) for log in written) == 1


def test_records_are_compressed_as_configured() -> None:
    share = ShareCoordination(config=dataclasses.replace(AT_ONCE, compression_type=CompressionType.GZIP))
    assert share.initialize() == OK
    assert share.read() == [PartitionAllData(0, 0, ())]


def test_redundant_records_are_deleted_from_time_to_time() -> None:
    share = ShareCoordination(config=dataclasses.replace(AT_ONCE, cold_partition_snapshot_interval_ms=10**9))
    partition = share.coordinator.partition_for(KEY)
    share.initialize()
    share.write(batch(0, 1))
    share.time.sleep(AT_ONCE.topic_prune_interval_ms)
    assert share.deleted == []
    share.initialize()
    share.time.sleep(AT_ONCE.topic_prune_interval_ms)
    assert share.deleted == [(partition, 2)]
    share.time.sleep(AT_ONCE.topic_prune_interval_ms)
    assert share.deleted == [(partition, 2)]
    names = {name.name: metric.value for name, metric in share.metrics.metrics.items()}
    assert names["last-pruned-offset"] == 2


def test_records_that_cannot_be_deleted_are_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    share = ShareCoordination()
    share.initialize()
    share.initialize()
    share.cannot_delete = Errors.NOT_LEADER_OR_FOLLOWER
    with caplog.at_level(logging.ERROR):
        share.coordinator.prune_records()
    assert "Cannot delete" in caplog.text
    share.cannot_delete = None
    share.coordinator.prune_records()
    assert [offset for _, offset in share.deleted] == [1]


def test_records_that_cannot_be_read_are_skipped(caplog: pytest.LogCaptureFixture) -> None:
    share = ShareCoordination()
    share.initialize(start_offset=4)
    log = share.log.log(TopicPartition(SHARE_GROUP_STATE_TOPIC_NAME, share.coordinator.partition_for(KEY)))
    builder = MemoryRecordsBuilder()
    for key, value in ((b"\0", b""), (b"\0\7", b""), (b"\0\0\0\1g", b"\0\0")):
        builder.append(0, key, value)
    log.append(builder.build())
    with caplog.at_level(logging.WARNING):
        other = ShareCoordination(share.log, share.time, epoch=1)
    assert other.summary() == [PartitionStateSummaryData(0, 0, 4)]
    assert "unknown key" in caplog.text
    assert caplog.text.count("Skipping the record") == 2


def test_writes_are_counted() -> None:
    share = ShareCoordination()
    share.initialize()
    share.write(batch(0, 1))
    share.write(batch(2, 3))
    values = {name.name: metric.value for name, metric in share.metrics.metrics.items()}
    assert values["write-total"] == 2
    assert values["write-rate"] > 0
    assert values["write-latency-max"] == 0
