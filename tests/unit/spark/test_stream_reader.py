from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.spark.data_loss import DataLossError
from kafka_lite.spark.offset_reader import OffsetReader
from kafka_lite.spark.offsets import Extreme, GlobalTimestamp, SparkOptionError, SpecificOffsets, SpecificTimestamps
from kafka_lite.spark.options import batch_options, stream_options
from kafka_lite.spark.planner import OffsetRange
from kafka_lite.spark.stream_reader import KafkaStreamReader

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
BASE = {"kafka.bootstrap.servers": "a:1", "fetchOffset.retryIntervalMs": "7"}


class FakeCluster:
    """Partitions with a beginning and an end; offset and timestamp of a record are the same number."""

    def __init__(self, logs: dict[TopicPartition, tuple[int, int]], internal: Iterable[str] = ()) -> None:
        self.logs = logs
        self.internal = set(internal)
        self.failures: list[Errors] = []
        self.forgotten: list[TopicPartition] = []

    def metadata(self, topics: Iterable[str] | None) -> MetadataResponse:
        names = {partition.topic for partition in self.logs} if topics is None else topics
        return MetadataResponse(topics=[self._topic(name) for name in names])

    def _topic(self, name: str) -> MetadataResponseTopic:
        numbers = [partition.partition for partition in self.logs if partition.topic == name]
        return MetadataResponseTopic(
            name=name,
            error_code=0 if numbers else Errors.UNKNOWN_TOPIC_OR_PARTITION.code,
            is_internal=name in self.internal,
            partitions=[MetadataResponsePartition(partition_index=number) for number in numbers],
        )

    def leader_of(self, partition: TopicPartition) -> int:
        return partition.partition % 2  # two brokers

    def forget_leader(self, partition: TopicPartition) -> None:
        self.forgotten.append(partition)

    def connection(self, _node_id: int) -> FakeCluster:
        return self

    def close(self) -> None:
        pass

    def exchange(self, request: ListOffsetsRequest, _response: type) -> ListOffsetsResponse:
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        self._offset(TopicPartition(topic.name, partition.partition_index), partition.timestamp)
                        for partition in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def _offset(self, partition: TopicPartition, timestamp: int) -> ListOffsetsPartitionResponse:
        if self.failures:
            return ListOffsetsPartitionResponse(
                partition_index=partition.partition, error_code=self.failures.pop().code
            )
        begin, end = self.logs[partition]
        offset = {-2: begin, -1: end}.get(timestamp, max(timestamp, begin) if timestamp < end else -1)
        return ListOffsetsPartitionResponse(partition_index=partition.partition, offset=offset)


def offset_reader(cluster: FakeCluster, **given: str) -> OffsetReader:
    options = batch_options(BASE | (given or {"subscribe": "a"}))
    return OffsetReader(cluster, options, MockTime())  # type: ignore[arg-type]


def stream_reader(cluster: FakeCluster, **given: str) -> KafkaStreamReader:
    reader = KafkaStreamReader(stream_options(BASE | {"subscribe": "a"} | given), MockTime())
    reader._client = cluster  # type: ignore[assignment]
    return reader


def ranges(partitions: list[Any]) -> list[OffsetRange]:
    return [partition.offset_range for partition in partitions]


# --- the offsets of a cluster ---


def test_strategies_find_their_partitions() -> None:
    cluster = FakeCluster({A0: (0, 5), A1: (0, 5), B0: (0, 5), TopicPartition("__b", 0): (0, 1)}, internal=["__b"])
    assert offset_reader(cluster, subscribe="a").partitions() == {A0, A1}
    assert offset_reader(cluster, subscribe="a,b").partitions() == {A0, A1, B0}
    assert offset_reader(cluster, subscribePattern=".*b").partitions() == {B0}
    assert offset_reader(cluster, subscribePattern="nothing").partitions() == set()
    assert offset_reader(cluster, assign='{"a":[1]}').partitions() == {A1}
    assert offset_reader(cluster, subscribe="__b").partitions() == {TopicPartition("__b", 0)}


@pytest.mark.parametrize(
    ("given", "message"),
    [({"subscribe": "a,c,d"}, "topic: c, d"), ({"assign": '{"a":[0,7]}'}, "no such partition: a-7")],
)
def test_topics_and_partitions_that_do_not_exist(given: dict[str, str], message: str) -> None:
    reader = offset_reader(FakeCluster({A0: (0, 5)}), **given)
    with pytest.raises(ApiError, match=message):
        reader.partitions()
    assert reader.existing_partitions() == {A0}


def test_limits_become_offsets() -> None:
    reader = offset_reader(FakeCluster({A0: (3, 10), A1: (0, 20)}))
    both = {A0, A1}
    assert reader.resolve(Extreme.EARLIEST, both, is_start=True) == {A0: 3, A1: 0}
    assert reader.resolve(Extreme.LATEST, both, is_start=False) == {A0: 10, A1: 20}
    assert reader.resolve(SpecificOffsets({A0: 5, A1: -1}), both, is_start=False) == {A0: 5, A1: 20}
    assert reader.resolve(SpecificOffsets({A0: -2, A1: 4}), both, is_start=True) == {A0: 3, A1: 4}
    assert reader.resolve(GlobalTimestamp(7), both, is_start=True) == {A0: 7, A1: 7}
    assert reader.resolve(SpecificTimestamps({A0: 1, A1: 19}), both, is_start=True) == {A0: 3, A1: 19}


def test_a_timestamp_that_no_record_has_reached() -> None:
    cluster = FakeCluster({A0: (3, 10), A1: (0, 20)})
    assert offset_reader(cluster).resolve(GlobalTimestamp(15), {A0, A1}, is_start=False) == {A0: 10, A1: 15}
    with pytest.raises(
        SparkOptionError, match="topic-partition a-0 and timestamp 15; set startingOffsetsByTimestampStrategy"
    ):
        offset_reader(cluster).resolve(GlobalTimestamp(15), {A0, A1}, is_start=True)
    lenient = offset_reader(cluster, subscribe="a", startingOffsetsByTimestampStrategy="latest")
    assert lenient.resolve(GlobalTimestamp(15), {A0, A1}, is_start=True) == {A0: 10, A1: 15}


def test_limits_that_do_not_name_all_partitions() -> None:
    reader = offset_reader(FakeCluster({A0: (3, 10), A1: (0, 20)}))
    for limit in (SpecificOffsets({A0: 5}), SpecificTimestamps({A0: 5, A1: 5, B0: 5})):
        with pytest.raises(SparkOptionError, match="all partitions must be named that are read"):
            reader.resolve(limit, {A0, A1}, is_start=True)


def test_passing_errors_are_tried_again_and_lasting_ones_are_not() -> None:
    cluster = FakeCluster({A0: (3, 10)})
    cluster.failures = [Errors.NOT_LEADER_OR_FOLLOWER, Errors.LEADER_NOT_AVAILABLE]
    assert offset_reader(cluster).latest([A0]) == {A0: 10}
    assert cluster.forgotten == [A0, A0]
    cluster.failures = [Errors.NOT_LEADER_OR_FOLLOWER] * 3
    with pytest.raises(ApiError, match="offsets of a-0"):
        offset_reader(cluster).latest([A0])
    cluster.failures = [Errors.TOPIC_AUTHORIZATION_FAILED]
    with pytest.raises(ApiError, match="offsets of a-0"):
        offset_reader(cluster).latest([A0])
    assert cluster.failures == []


# --- a stream ---


def test_a_stream_reads_what_comes_and_from_new_partitions_everything() -> None:
    cluster = FakeCluster({A0: (0, 10)})
    reader = stream_reader(cluster)
    start = reader.initialOffset()
    assert start == {"a": {"0": 10}}
    assert reader.latestOffset(start, ReadAllAvailable()) == start
    cluster.logs = {A0: (0, 12), A1: (0, 3)}
    end = reader.latestOffset(start, ReadAllAvailable())
    assert end == {"a": {"0": 12, "1": 3}} == reader.reportLatestOffset()
    assert ranges(reader.partitions(start, end)) == [OffsetRange(A0, 10, 12), OffsetRange(A1, 0, 3)]


def test_max_offsets_per_trigger_limits_a_batch() -> None:
    cluster = FakeCluster({A0: (0, 100), A1: (0, 300)})
    reader = stream_reader(cluster, startingOffsets="earliest", maxOffsetsPerTrigger="40")
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMaxRows(40)
    start = reader.initialOffset()
    assert reader.latestOffset(start, limit) == {"a": {"0": 10, "1": 30}}
    assert reader.latestOffset(start, ReadAllAvailable()) == {"a": {"0": 100, "1": 300}}
    # A partition that has come since takes part from its beginning.
    assert reader.latestOffset({"a": {"0": 90}}, limit) == {"a": {"0": 91, "1": 38}}


def test_min_offsets_per_trigger_waits_until_there_are_so_many_or_the_delay_is_over() -> None:
    cluster = FakeCluster({A0: (0, 50)})
    reader = stream_reader(cluster, minOffsetsPerTrigger="10", maxTriggerDelay="30s")
    time: Any = reader._time
    time.sleep(1)
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMinRows(10)
    start = reader.initialOffset()
    reader.latestOffset(start, limit)  # the first trigger never waits
    cluster.logs[A0] = (0, 55)
    assert reader.latestOffset(start, limit) == start
    assert reader.latestOffset(start, ReadAllAvailable()) == {"a": {"0": 55}}
    time.sleep(29_000)
    assert reader.latestOffset(start, limit) == start
    time.sleep(1_000)
    assert reader.latestOffset(start, limit) == {"a": {"0": 55}}
    cluster.logs[A0] = (0, 65)
    assert reader.latestOffset({"a": {"0": 55}}, limit) == {"a": {"0": 65}}


def test_available_now_ends_where_the_logs_ended_when_it_began() -> None:
    cluster = FakeCluster({A0: (0, 50)})
    reader = stream_reader(cluster, startingOffsets="earliest", minOffsetsPerTrigger="1000")
    reader.prepareForTriggerAvailableNow()
    cluster.logs[A0] = (0, 80)
    start = reader.initialOffset()
    assert reader.latestOffset(start, reader.getDefaultReadLimit()) == {"a": {"0": 50}}
    assert reader.latestOffset({"a": {"0": 50}}, reader.getDefaultReadLimit()) == {"a": {"0": 50}}
    # A batch of the run before, repeated from the checkpoint, may lie beyond: offsets do not go back.
    assert reader.latestOffset({"a": {"0": 60}}, reader.getDefaultReadLimit()) == {"a": {"0": 60}}


def test_a_deleted_topic_and_a_log_that_begins_anew_fail_the_stream_unless_losses_are_accepted() -> None:
    cluster = FakeCluster({A0: (0, 50)})
    strict, lenient = stream_reader(cluster), stream_reader(cluster, failOnDataLoss="false")
    start = {"a": {"0": 50}, "b": {"0": 7}}
    assert strict.latestOffset(start, ReadAllAvailable()) == {"a": {"0": 50}}
    with pytest.raises(DataLossError, match="b-0 are gone"):
        strict.partitions(start, {"a": {"0": 50}})
    assert lenient.partitions(start, {"a": {"0": 50}}) == []
    with pytest.raises(DataLossError, match="went back from 50 to 4"):
        strict.partitions({"a": {"0": 50}}, {"a": {"0": 4}})
    assert lenient.partitions({"a": {"0": 50}}, {"a": {"0": 4}}) == []


def test_min_partitions_cuts_the_ranges_of_a_batch() -> None:
    reader = stream_reader(FakeCluster({A0: (0, 50)}), minPartitions="2")
    cut = ranges(reader.partitions({"a": {"0": 0}}, {"a": {"0": 50}}))
    assert cut == [OffsetRange(A0, 0, 25), OffsetRange(A0, 25, 50)]
