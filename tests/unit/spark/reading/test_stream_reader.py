from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyspark
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
from kafka_lite.spark.cluster_client import ClusterUnreachableError
from kafka_lite.spark.offsets import Extreme, GlobalTimestamp, SparkOptionError, SpecificOffsets, SpecificTimestamps
from kafka_lite.spark.options import batch_options, stream_options
from kafka_lite.spark.reading.data_loss import DataLossError
from kafka_lite.spark.reading.offset_reader import OffsetReader
from kafka_lite.spark.reading.planner import OffsetRange
from kafka_lite.spark.reading.stream_reader import KafkaStreamReader
from kafka_lite.spark.source_provider import KafkaSourceProvider

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
BASE = {"kafka.bootstrap.servers": "a:1", "fetchOffset.retryIntervalMs": "7"}
ONE_ATTEMPT = {"subscribe": "a", "fetchOffset.numRetries": "1"}


class FakeCluster:
    """Partitions with a start and an end offset; a record's timestamp equals its offset."""

    def __init__(self, logs: dict[TopicPartition, tuple[int, int]], internal: Iterable[str] = ()) -> None:
        self.logs = logs
        self.internal = set(internal)
        self.failures: list[Errors] = []
        self.has_answered = True
        self.unreachable = 0  # how many times no broker responds
        self.forgotten: list[TopicPartition] = []

    def metadata(self, topics: Iterable[str] | None) -> MetadataResponse:
        if self.unreachable:
            self.unreachable -= 1
            raise ClusterUnreachableError("no Kafka broker answers")
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


def test_each_strategy_finds_its_partitions() -> None:
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
def test_missing_topics_and_partitions_are_reported(given: dict[str, str], message: str) -> None:
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


def test_a_timestamp_after_the_last_record() -> None:
    cluster = FakeCluster({A0: (3, 10), A1: (0, 20)})
    assert offset_reader(cluster).resolve(GlobalTimestamp(15), {A0, A1}, is_start=False) == {A0: 10, A1: 15}
    with pytest.raises(
        SparkOptionError, match="topic-partition a-0 and timestamp 15; set startingOffsetsByTimestampStrategy"
    ):
        offset_reader(cluster).resolve(GlobalTimestamp(15), {A0, A1}, is_start=True)
    lenient = offset_reader(cluster, subscribe="a", startingOffsetsByTimestampStrategy="latest")
    assert lenient.resolve(GlobalTimestamp(15), {A0, A1}, is_start=True) == {A0: 10, A1: 15}


def test_limits_must_name_every_partition() -> None:
    reader = offset_reader(FakeCluster({A0: (3, 10), A1: (0, 20)}))
    for limit in (SpecificOffsets({A0: 5}), SpecificTimestamps({A0: 5, A1: 5, B0: 5})):
        with pytest.raises(SparkOptionError, match="offsets must be given for all partitions that are read"):
            reader.resolve(limit, {A0, A1}, is_start=True)


def test_transient_errors_are_retried_and_permanent_ones_are_not() -> None:
    cluster = FakeCluster({A0: (3, 10)})
    cluster.failures = [Errors.NOT_LEADER_OR_FOLLOWER, Errors.LEADER_NOT_AVAILABLE]
    assert offset_reader(cluster).latest([A0]) == {A0: 10}
    assert cluster.forgotten == [A0, A0]
    cluster.failures = [Errors.NOT_LEADER_OR_FOLLOWER] * 3
    with pytest.raises(ApiError, match="offsets of a-0"):
        offset_reader(cluster, subscribe="a", **{"kafka.default.api.timeout.ms": "0"}).latest([A0])
    cluster.failures = [Errors.TOPIC_AUTHORIZATION_FAILED]
    with pytest.raises(ApiError, match="offsets of a-0"):
        offset_reader(cluster).latest([A0])
    assert cluster.failures == []


def test_an_attempt_outlasts_the_restart_of_a_broker_and_an_election() -> None:
    cluster = FakeCluster({A0: (3, 10)})
    cluster.unreachable = 300
    assert offset_reader(cluster, **ONE_ATTEMPT).partitions() == {A0}
    cluster.failures = [Errors.LEADER_NOT_AVAILABLE] * 300
    assert offset_reader(cluster, **ONE_ATTEMPT).latest([A0]) == {A0: 10}
    cluster.failures = [Errors.LEADER_NOT_AVAILABLE] * 1000
    with pytest.raises(ApiError, match="offsets of a-0"):
        offset_reader(cluster, **ONE_ATTEMPT).latest([A0])
    assert 390 <= len(cluster.failures) <= 400  # a minute, ten times a second


def test_a_cluster_that_has_never_responded_is_asked_no_more_often_than_the_options_say() -> None:
    cluster = FakeCluster({A0: (3, 10)})
    cluster.has_answered = False
    cluster.unreachable = 5
    with pytest.raises(ClusterUnreachableError):
        offset_reader(cluster).partitions()
    assert cluster.unreachable == 2


# --- a stream ---


def test_a_stream_reads_new_records_and_new_partitions_from_their_start() -> None:
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
    # A new partition takes part from its beginning.
    assert reader.latestOffset({"a": {"0": 90}}, limit) == {"a": {"0": 91, "1": 38}}


def test_min_offsets_per_trigger_waits_for_the_offsets_or_the_delay() -> None:
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


def test_available_now_ends_at_the_end_offsets_of_its_start() -> None:
    cluster = FakeCluster({A0: (0, 50)})
    reader = stream_reader(cluster, startingOffsets="earliest", minOffsetsPerTrigger="1000")
    reader.prepareForTriggerAvailableNow()
    cluster.logs[A0] = (0, 80)
    start = reader.initialOffset()
    assert reader.latestOffset(start, reader.getDefaultReadLimit()) == {"a": {"0": 50}}
    assert reader.latestOffset({"a": {"0": 50}}, reader.getDefaultReadLimit()) == {"a": {"0": 50}}
    # A batch of the previous run, repeated from the checkpoint, may end later: offsets do not go back.
    assert reader.latestOffset({"a": {"0": 60}}, reader.getDefaultReadLimit()) == {"a": {"0": 60}}


def test_available_now_reads_partitions_added_since_the_last_run_and_none_added_later() -> None:
    cluster = FakeCluster({A0: (0, 50), A1: (3, 9)})
    reader = stream_reader(cluster, maxOffsetsPerTrigger="1000")
    reader.prepareForTriggerAvailableNow()
    cluster.logs = {A0: (0, 80), A1: (3, 12), TopicPartition("a", 2): (0, 5)}
    start = {"a": {"0": 50}}  # of the last run, before there was A1
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    assert end == {"a": {"0": 50, "1": 9}}
    assert reader.latestOffset(end, reader.getDefaultReadLimit()) == end


@pytest.mark.parametrize("available_now", [False, True])
def test_a_log_that_has_begun_anew_is_a_loss_whatever_the_trigger(available_now: bool) -> None:
    cluster = FakeCluster({A0: (0, 4)})
    strict, lenient = stream_reader(cluster), stream_reader(cluster, failOnDataLoss="false")
    for reader in (strict, lenient):
        if available_now:
            reader.prepareForTriggerAvailableNow()
        assert reader.latestOffset({"a": {"0": 50}}, ReadAllAvailable()) == {"a": {"0": 4}}
    with pytest.raises(DataLossError, match="went back from 50 to 4"):
        strict.partitions({"a": {"0": 50}}, {"a": {"0": 4}})
    assert lenient.partitions({"a": {"0": 50}}, {"a": {"0": 4}}) == []
    # The next batch goes on from there.
    assert lenient.latestOffset({"a": {"0": 4}}, ReadAllAvailable()) == {"a": {"0": 4}}


class LateCluster(FakeCluster):
    """A new leader, which does not know the high watermark until it has been asked ``polls`` times."""

    def __init__(self, logs: dict[TopicPartition, tuple[int, int]], known: int, polls: int) -> None:
        super().__init__(logs)
        self.known = known
        self.polls = polls

    def exchange(self, request: ListOffsetsRequest, response: type) -> ListOffsetsResponse:
        answer = super().exchange(request, response)
        if self.polls:
            self.polls -= 1
            answer.topics[0].partitions[0].offset = self.known
        return answer


@pytest.mark.parametrize("available_now", [False, True])
def test_a_new_leader_that_does_not_know_the_end_yet_is_asked_again(available_now: bool) -> None:
    reader = stream_reader(LateCluster({A0: (0, 60)}, known=40, polls=2))
    if available_now:
        reader.prepareForTriggerAvailableNow()
    # What has come after a query with AvailableNow began is left for the next.
    assert reader.latestOffset({"a": {"0": 50}}, ReadAllAvailable()) == {"a": {"0": 50 if available_now else 60}}
    assert reader._time.hi_res_ms() > 0


def test_a_repeated_batch_has_the_same_ranges() -> None:
    reader = stream_reader(FakeCluster({A0: (0, 50), A1: (0, 9)}))
    first = ranges(reader.partitions({"a": {"0": 10}}, {"a": {"0": 50, "1": 9}}))
    assert first == [OffsetRange(A0, 10, 50), OffsetRange(A1, 0, 9)]
    restarted = stream_reader(FakeCluster({A0: (0, 70), A1: (0, 20)}))  # more has come since
    assert ranges(restarted.partitions({"a": {"0": 10}}, {"a": {"0": 50, "1": 9}})) == first


def test_a_partition_added_after_the_query_began_is_a_loss_if_its_first_records_are_gone() -> None:
    cluster = FakeCluster({A0: (0, 50), A1: (3, 9)})
    with pytest.raises(DataLossError, match="the added partition a-1 starts from 3 instead of 0"):
        stream_reader(cluster).partitions({"a": {"0": 50}}, {"a": {"0": 50, "1": 9}})
    lenient = stream_reader(cluster, failOnDataLoss="false")
    assert ranges(lenient.partitions({"a": {"0": 50}}, {"a": {"0": 50, "1": 9}})) == [OffsetRange(A1, 3, 9)]


def test_pyspark_before_4_2_reads_all_that_is_there_and_refuses_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.1.1")
    options = BASE | {"subscribe": "a", "startingOffsets": "earliest"}
    provider = KafkaSourceProvider(options)
    reader: Any = provider.stream_reader(provider.schema())
    reader._client = FakeCluster({A0: (0, 50)})
    assert (reader.initialOffset(), reader.latestOffset()) == ({"a": {"0": 0}}, {"a": {"0": 50}})
    assert ranges(reader.partitions({"a": {"0": 0}}, {"a": {"0": 50}})) == [OffsetRange(A0, 0, 50)]
    for name in ("maxOffsetsPerTrigger", "minOffsetsPerTrigger"):
        limited = KafkaSourceProvider(options | {name: "5"})
        with pytest.raises(SparkOptionError, match=f"{name} needs PySpark 4.2 or newer, and this is 4.1.1"):
            limited.stream_reader(limited.schema())


def test_a_deleted_or_recreated_topic_fails_the_stream_unless_data_loss_is_accepted() -> None:
    cluster = FakeCluster({A0: (0, 50)})
    strict, lenient = stream_reader(cluster), stream_reader(cluster, failOnDataLoss="false")
    start = {"a": {"0": 50}, "b": {"0": 7}}
    assert strict.latestOffset(start, ReadAllAvailable()) == {"a": {"0": 50}}
    with pytest.raises(DataLossError, match="b-0 no longer exist"):
        strict.partitions(start, {"a": {"0": 50}})
    assert lenient.partitions(start, {"a": {"0": 50}}) == []
    with pytest.raises(DataLossError, match="went back from 50 to 4"):
        strict.partitions({"a": {"0": 50}}, {"a": {"0": 4}})
    assert lenient.partitions({"a": {"0": 50}}, {"a": {"0": 4}}) == []


def test_min_partitions_splits_the_ranges_of_a_batch() -> None:
    reader = stream_reader(FakeCluster({A0: (0, 50)}), minPartitions="2")
    cut = ranges(reader.partitions({"a": {"0": 0}}, {"a": {"0": 50}}))
    assert cut == [OffsetRange(A0, 0, 25), OffsetRange(A0, 25, 50)]
