"""What a group is to remember is appended as one batch, in the log's format, once the group's lock is free."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_records_appender import GroupRecordsAppender
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.record.records import batches
from tests.support.groups import Groups, MemoryOffsetsLog

PARTITION = TopicPartition("__consumer_offsets", 7)
RECORDS = [(b"key", b"value"), (b"gone", None)]


class Appends:
    """An appender with a log in memory, and the results of its appends."""

    def __init__(self) -> None:
        self.time, self.log = MockTime(), MemoryOffsetsLog()
        self.appender = GroupRecordsAppender(Groups().config, self.log, self.time, lambda _group_id: PARTITION)
        self.group = GroupMetadata("g", self.time)
        self.results: list[Errors] = []

    def append(self, producer: ProducerIdAndEpoch | None = None, guard: VerificationGuard | None = None) -> None:
        with self.group.lock:
            self.appender.append_for_group(
                self.group, RECORDS, lambda result: self.results.append(result.error), producer, guard
            )
            assert self.results == [], "the lock is still held"


@pytest.fixture
def appends() -> Appends:
    return Appends()


def test_the_records_are_one_batch(appends: Appends) -> None:
    appends.append()
    assert appends.results == [Errors.NONE]
    ((_, data),) = appends.log.log(PARTITION).batches
    (batch,) = batches(data)
    assert [(record.key, record.value) for record in batch.records()] == RECORDS
    assert {record.timestamp for record in batch.records()} == {appends.time.milliseconds()}
    assert not batch.is_transactional


def test_the_records_of_a_producer_are_part_of_its_transaction(appends: Appends) -> None:
    guard = VerificationGuard()
    appends.append(ProducerIdAndEpoch(7, 1), guard)
    ((_, data),) = appends.log.log(PARTITION).batches
    (batch,) = batches(data)
    assert (batch.is_transactional, batch.producer_id, batch.producer_epoch) == (True, 7, 1)
    assert appends.log.guards == {PARTITION: guard}


def test_a_producer_cannot_write_into_a_log_of_an_old_format(appends: Appends) -> None:
    appends.log.log(PARTITION).config = LogConfig({"message.format.version": "0.10.2"})
    appends.append(ProducerIdAndEpoch(7, 1))
    assert appends.results == [Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT]
    assert appends.log.log(PARTITION).batches == []


def test_the_batch_has_the_format_of_the_log(appends: Appends) -> None:
    appends.log.log(PARTITION).config = LogConfig({"message.format.version": "0.10.2"})
    appends.append()
    written = [batch for _, data in appends.log.log(PARTITION).batches for batch in batches(data)]
    assert [batch.magic for batch in written] == [1, 1]


def test_an_append_that_cannot_be_attempted_has_its_error_as_result(appends: Appends) -> None:
    appends.log.leads = False
    appends.append()
    assert appends.results == [Errors.NOT_LEADER_OR_FOLLOWER]


def test_an_append_that_fails_has_the_error_of_the_log(appends: Appends) -> None:
    appends.log.error = Errors.NOT_ENOUGH_REPLICAS
    appends.append()
    assert appends.results == [Errors.NOT_ENOUGH_REPLICAS]
