from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_35_describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kafka_lite.spark.options import batch_options
from kafka_lite.spark.reading.log_sizes import log_sizes
from kafka_lite.spark.reading.planner import OffsetRange
from kafka_lite.spark.reading.range_splitter import RangeSplitter

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


class Logs:
    """Offsets and sizes of logs; records whether sizes were requested."""

    def __init__(self, sizes: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, tuple[int, int]]) -> None:
        self.sizes = sizes
        self.ends = ends
        self.asked: list[set[TopicPartition]] = []

    def log_sizes(self, partitions: set[TopicPartition]) -> dict[TopicPartition, int]:
        self.asked.append(set(partitions))
        return {partition: size for partition, size in self.sizes.items() if partition in partitions}

    def earliest(self, partitions: Any) -> dict[TopicPartition, int]:
        return {partition: self.ends[partition][0] for partition in partitions}

    def latest(self, partitions: Any) -> dict[TopicPartition, int]:
        return {partition: self.ends[partition][1] for partition in partitions}


def split(logs: Logs, ranges: list[OffsetRange], **given: str) -> list[OffsetRange]:
    options = batch_options({"kafka.bootstrap.servers": "a:1", "subscribe": "a", **given})
    return RangeSplitter(options, logs).split(ranges)  # type: ignore[arg-type]


def test_a_task_reads_about_the_given_number_of_bytes() -> None:
    # 10 bytes an offset, and 1,000: half of the second log is read.
    logs = Logs({A0: 10_000, A1: 1_000_000}, {A0: (0, 1000), A1: (5000, 6000)})
    ranges = [OffsetRange(A0, 0, 1000), OffsetRange(A1, 5500, 6000)]
    pieces = split(logs, ranges, maxBytesPerPartition="100000")
    assert pieces[0] == ranges[0]
    assert [piece.size for piece in pieces[1:]] == [100] * 5
    assert (pieces[1].from_offset, pieces[-1].until_offset) == (5500, 6000)


def test_the_narrower_of_two_limits_counts() -> None:
    logs = Logs({A0: 10_000}, {A0: (0, 1000)})
    for given in ({"maxRecordsPerPartition": "250"}, {"maxBytesPerPartition": "2500"}):
        wider = {"maxRecordsPerPartition": "500", "maxBytesPerPartition": "5000"} | given
        assert [piece.size for piece in split(logs, [OffsetRange(A0, 0, 1000)], **wider)] == [250] * 4


def test_a_record_larger_than_the_limit_is_a_task_of_its_own() -> None:
    logs = Logs({A0: 10_000}, {A0: (0, 4)})
    assert len(split(logs, [OffsetRange(A0, 0, 4)], maxBytesPerPartition="1")) == 4


def test_sizes_are_requested_only_with_the_option_and_for_partitions_to_read() -> None:
    logs = Logs({A0: 10_000, A1: 10_000}, {A0: (0, 1000), A1: (0, 1000)})
    ranges = [OffsetRange(A0, 0, 1000), OffsetRange(A1, 7, 7)]
    assert split(logs, ranges) == ranges[:1]
    assert logs.asked == []
    split(logs, ranges, maxBytesPerPartition="100")
    assert logs.asked == [{A0}]


def test_a_log_of_unknown_size_is_not_split_and_logs_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    logs = Logs({A0: 0}, {A0: (0, 1000), A1: (0, 1000)})
    ranges = [OffsetRange(A0, 0, 1000), OffsetRange(A1, 0, 1000)]
    assert split(logs, ranges, maxBytesPerPartition="100") == ranges
    assert "do not tell the size of a-1: maxBytesPerPartition is ignored" in caplog.text


class Broker:
    """Two brokers, which lead the partitions of even and of odd numbers and have copies of all."""

    def __init__(self, error: Errors = Errors.NONE) -> None:
        self.error = error
        self.asked: list[tuple[int, dict[str, list[int]]]] = []
        self.node_id = 0

    def leader_of(self, partition: TopicPartition) -> int:
        return partition.partition % 2

    def connection(self, node_id: int) -> Broker:
        self.node_id = node_id
        return self

    def exchange(self, request: DescribeLogDirsRequest, _response: type) -> DescribeLogDirsResponse:
        self.asked.append((self.node_id, {topic.topic: topic.partitions for topic in request.topics or []}))
        if self.error is Errors.UNSUPPORTED_VERSION:
            raise self.error.exception("no version of DESCRIBE_LOG_DIRS")
        logs = [
            DescribeLogDirsPartition(
                partition_index=number, partition_size=1000 * self.node_id + number, is_future_key=moved
            )
            for number, moved in ((0, False), (0, True), (1, False))
        ]
        topics = [DescribeLogDirsTopic(name=name, partitions=logs) for name in ("a", "b")]
        offline = DescribeLogDirsResult(error_code=Errors.KAFKA_STORAGE_ERROR.code, log_dir="/gone")
        return DescribeLogDirsResponse(
            results=[offline, DescribeLogDirsResult(error_code=self.error.code, log_dir="/data", topics=topics)]
        )


def test_each_leader_returns_the_sizes_of_its_own_logs() -> None:
    broker = Broker()
    assert log_sizes(broker, [A0, A1, B0]) == {A0: 0, A1: 1001, B0: 0}  # type: ignore[arg-type]
    assert broker.asked == [(0, {"a": [0], "b": [0]}), (1, {"a": [1]})]


def test_an_unauthorized_leader_returns_no_sizes_and_one_before_kafka_1_0_is_an_error() -> None:
    assert log_sizes(Broker(Errors.CLUSTER_AUTHORIZATION_FAILED), [A0]) == {}  # type: ignore[arg-type]
    with pytest.raises(ApiError, match="DESCRIBE_LOG_DIRS"):
        log_sizes(Broker(Errors.UNSUPPORTED_VERSION), [A0])  # type: ignore[arg-type]
