from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_01_fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import CorruptRecordError
from kafka_lite.spark.cluster_client import ClusterUnreachableError
from kafka_lite.spark.options import batch_options
from kafka_lite.spark.reading.data_loss import DataLossError, data_loss_reporter
from kafka_lite.spark.reading.partition_fetcher import PartitionFetcher, PollTimeoutError
from kafka_lite.spark.reading.planner import OffsetRange

TP = TopicPartition("t", 0)
Answer = PartitionData | Errors | OSError | ClusterUnreachableError


def batch(*offsets: int, last_offset: int | None = None, **settings: Any) -> bytes:
    builder = MemoryRecordsBuilder(base_offset=offsets[0], **settings)
    for offset in offsets:
        builder.append(0, None, b"v%d" % offset, offset=offset)
    return builder.build(last_offset)


def data(records: bytes = b"", **fields: Any) -> PartitionData:
    return PartitionData(records=memoryview(records), high_watermark=1000, **fields)


class ScriptedBroker:
    """Answers fetches with scripted responses, in order, and records the requests."""

    def __init__(self, time: MockTime, *answers: Answer, earliest: int = 0, latest: int = 1000) -> None:
        self.time = time
        self.answers = list(answers)
        self.ends = {-2: earliest, -1: latest}
        self.fetched: list[int] = []
        self.leader_lookups = 0
        self.forgotten = 0

    def leader_of(self, _partition: TopicPartition) -> int:
        self.leader_lookups += 1
        return 1

    def forget_leader(self, _partition: TopicPartition) -> None:
        self.forgotten += 1

    def connection(self, _node_id: int) -> ScriptedBroker:
        return self

    def exchange(
        self, request: FetchRequest | ListOffsetsRequest, _response: type
    ) -> FetchResponse | ListOffsetsResponse:
        if isinstance(request, ListOffsetsRequest):
            offset = self.ends[request.topics[0].partitions[0].timestamp]
            partition = ListOffsetsPartitionResponse(partition_index=0, offset=offset)
            return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[partition])])
        self.fetched.append(request.topics[0].partitions[0].fetch_offset)
        answer = self.answers.pop(0) if self.answers else data()
        if isinstance(answer, OSError | ClusterUnreachableError):
            raise answer
        if isinstance(answer, Errors):
            answer = PartitionData(error_code=answer.code)
        if not answer.records:
            self.time.sleep(request.max_wait_ms)
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[answer])])


@pytest.fixture
def time() -> MockTime:
    return MockTime()


def fetch(
    broker: ScriptedBroker, begin: int, until: int, report: Callable[[str], None] | None = None, **given: str
) -> list[int]:
    options = batch_options({"kafka.bootstrap.servers": "a:1", "subscribe": "t", **given})
    report = report or data_loss_reporter(options.fail_on_data_loss)
    fetcher = PartitionFetcher(broker, options, OffsetRange(TP, begin, until), report, broker.time)  # type: ignore[arg-type]
    return [
        record.offset
        for fetched in fetcher.fetch()
        for batch in fetched.batches
        for record in batch.records()
        if fetched.from_offset <= record.offset
    ]


def test_each_fetch_starts_where_the_last_response_ended(time: MockTime) -> None:
    broker = ScriptedBroker(time, data(batch(5, 6) + batch(7)), data(batch(8)))
    assert fetch(broker, 5, 9) == [5, 6, 7, 8]
    assert broker.fetched == [5, 8]


def test_gaps_left_by_compaction_are_skipped(time: MockTime) -> None:
    broker = ScriptedBroker(time, data(batch(10, 12, last_offset=19)), data(batch(40, last_offset=99)))
    assert fetch(broker, 5, 100) == [10, 12, 40]
    assert broker.fetched == [5, 20]


def test_a_response_with_only_markers_advances_the_offset(time: MockTime) -> None:
    marker = batch(5, producer_id=1, producer_epoch=0, is_transactional=True, is_control=True)
    broker = ScriptedBroker(time, data(marker), data(batch(6)))
    assert fetch(broker, 5, 7) == [6]


def test_aborted_transactions_are_left_out(time: MockTime) -> None:
    transactional = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    aborted = AbortedTransaction(producer_id=7, first_offset=5)
    broker = ScriptedBroker(time, data(batch(5, **transactional) + batch(6), aborted_transactions=[aborted]))
    assert fetch(broker, 5, 7, **{"kafka.isolation.level": "read_committed"}) == [6]


def test_an_incomplete_batch_is_fetched_again(time: MockTime) -> None:
    broker = ScriptedBroker(time, data(batch(0) + batch(1)[:-3]), data(batch(1)))
    assert fetch(broker, 0, 2) == [0, 1]
    assert broker.fetched == [0, 1]


@pytest.mark.parametrize(
    "failure",
    [
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.REQUEST_TIMED_OUT,
        ConnectionResetError("gone"),
        ClusterUnreachableError("no Kafka broker answers"),
    ],
)
def test_a_transient_error_looks_up_the_leader_again(failure: Answer, time: MockTime) -> None:
    broker = ScriptedBroker(time, failure, data(batch(0)))
    assert fetch(broker, 0, 1) == [0]
    assert broker.forgotten == 1
    assert broker.leader_lookups == 2


def test_a_permanent_error_is_raised(time: MockTime) -> None:
    with pytest.raises(ApiError) as raised:
        fetch(ScriptedBroker(time, Errors.TOPIC_AUTHORIZATION_FAILED), 0, 1)
    assert raised.value.error is Errors.TOPIC_AUTHORIZATION_FAILED


def test_a_timeout_is_an_error_that_names_the_offset(time: MockTime) -> None:
    broker = ScriptedBroker(time, data(batch(0)))
    with pytest.raises(PollTimeoutError, match="cannot fetch offset 1 of t-0 in 2000 ms: no records arrived"):
        fetch(broker, 0, 5, **{"kafkaConsumer.pollTimeoutMs": "2000"})
    assert broker.fetched == [0, 1, 1, 1, 1]


def test_a_wrong_checksum_is_rejected_unless_checks_are_disabled(time: MockTime) -> None:
    corrupt = bytearray(batch(0))
    corrupt[-1] ^= 1
    with pytest.raises(CorruptRecordError, match="corrupt"):
        fetch(ScriptedBroker(time, data(bytes(corrupt))), 0, 1)
    unchecked = {"kafka.check.crcs": "false"}
    with pytest.raises(ApiError, match="header"):  # decoded; the changed byte is the number of headers
        fetch(ScriptedBroker(time, data(bytes(corrupt))), 0, 1, **unchecked)


def test_records_deleted_by_retention_fail_the_query(time: MockTime) -> None:
    with pytest.raises(DataLossError, match="offsets from 3 to 7 of t-0 are no longer available"):
        fetch(ScriptedBroker(time, Errors.OFFSET_OUT_OF_RANGE, earliest=7), 3, 9)


def test_records_deleted_by_retention_are_skipped_if_configured(time: MockTime) -> None:
    findings: list[str] = []
    # The log starts within a batch, which is returned whole.
    broker = ScriptedBroker(time, Errors.OFFSET_OUT_OF_RANGE, data(batch(4, 5, 6, 7, 8)), earliest=7)
    assert fetch(broker, 3, 9, findings.append) == [7, 8]
    assert broker.fetched == [3, 7]
    assert len(findings) == 1


def test_a_range_that_no_longer_exists_ends_the_read(time: MockTime) -> None:
    findings: list[str] = []
    assert fetch(ScriptedBroker(time, Errors.OFFSET_OUT_OF_RANGE, earliest=20), 3, 9, findings.append) == []
    assert fetch(ScriptedBroker(time, Errors.OFFSET_OUT_OF_RANGE, latest=2), 3, 9, findings.append) == []
    assert "offsets from 3 to 9 of t-0 are no longer available" in findings[0]
    assert "offsets from 3 to 9 of t-0 do not exist" in findings[1]


def test_a_partition_that_is_deleted_while_it_is_read_is_a_loss(time: MockTime) -> None:
    gone = [Errors.UNKNOWN_TOPIC_OR_PARTITION] * 50
    soon = {"kafkaConsumer.pollTimeoutMs": "2000"}
    with pytest.raises(DataLossError, match="offsets from 1 to 5 of t-0 are gone: there is no such partition"):
        fetch(ScriptedBroker(time, data(batch(0)), *gone), 0, 5, **soon)
    assert fetch(ScriptedBroker(time, data(batch(0)), *gone), 0, 5, failOnDataLoss="false", **soon) == [0]


def test_a_partition_that_is_unknown_for_a_moment_is_read_on(time: MockTime) -> None:
    broker = ScriptedBroker(time, Errors.UNKNOWN_TOPIC_OR_PARTITION, data(batch(0)))
    assert fetch(broker, 0, 1) == [0]


def test_a_leader_that_refuses_an_offset_its_log_has_is_asked_until_the_deadline(time: MockTime) -> None:
    behind = [Errors.OFFSET_OUT_OF_RANGE] * 3
    assert fetch(ScriptedBroker(time, *behind, data(batch(3))), 3, 4) == [3]
    with pytest.raises(PollTimeoutError, match="cannot fetch offset 3 of t-0 in 2000 ms"):
        fetch(ScriptedBroker(time, *behind * 10), 3, 4, **{"kafkaConsumer.pollTimeoutMs": "2000"})
