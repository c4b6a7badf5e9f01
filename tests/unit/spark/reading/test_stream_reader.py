from __future__ import annotations

from typing import Any

import pyspark
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_02_list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafka_lite.spark.offsets import SparkOptionError
from kafka_lite.spark.options import stream_options
from kafka_lite.spark.reading.data_loss import DataLossError
from kafka_lite.spark.reading.planner import OffsetRange
from kafka_lite.spark.reading.stream_reader import KafkaStreamReader
from kafka_lite.spark.source_provider import KafkaSourceProvider
from tests.support.spark_cluster import FakeCluster

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
BASE = {"kafka.bootstrap.servers": "a:1", "fetchOffset.retryIntervalMs": "7"}


def stream_reader(cluster: FakeCluster, **given: str) -> KafkaStreamReader:
    strategies = {"subscribePattern", "assign"}
    reader = KafkaStreamReader(
        stream_options(BASE | ({} if strategies & given.keys() else {"subscribe": "a"}) | given), MockTime()
    )
    reader._client = cluster  # type: ignore[assignment]
    return reader


def ranges(partitions: list[Any]) -> list[OffsetRange]:
    return [partition.offset_range for partition in partitions]


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


@pytest.mark.parametrize("loss_fails", ["true", "false"])
@pytest.mark.parametrize("subscribed", [{"subscribe": "a"}, {"subscribePattern": "a+"}, {"assign": '{"a":[0]}'}])
def test_a_topic_that_is_unknown_for_a_moment_neither_ends_a_stream_nor_begins_it_again(
    subscribed: dict[str, str], loss_fails: str
) -> None:
    cluster = FakeCluster({A0: (0, 50)})
    reader = stream_reader(cluster, **subscribed, failOnDataLoss=loss_fails)
    read = {"a": {"0": 50}}
    cluster.just_started = 2
    during = reader.latestOffset(read, ReadAllAvailable())
    assert during == read
    assert reader.partitions(read, during) == []


@pytest.mark.parametrize("starts", [1, 2, 3, 5])
def test_available_now_reads_to_the_end_although_the_topic_is_unknown_when_it_begins(starts: int) -> None:
    cluster = FakeCluster({A0: (0, 50)})
    reader = stream_reader(cluster)
    cluster.just_started = starts
    reader.prepareForTriggerAvailableNow()
    assert reader.latestOffset({"a": {"0": 20}}, ReadAllAvailable()) == {"a": {"0": 50}}


def test_a_new_partition_that_is_unknown_for_a_moment_is_read_from_its_beginning() -> None:
    cluster = FakeCluster({A0: (0, 50), A1: (0, 9)})
    reader = stream_reader(cluster, failOnDataLoss="false")
    cluster.just_started = 1
    assert ranges(reader.partitions({"a": {"0": 50}}, {"a": {"0": 50, "1": 9}})) == [OffsetRange(A1, 0, 9)]


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


@pytest.mark.parametrize("restarted", [False, True])
def test_pyspark_before_4_2_keeps_its_offsets_while_a_topic_is_unknown(
    monkeypatch: pytest.MonkeyPatch, restarted: bool
) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.1.1")
    provider = KafkaSourceProvider(BASE | {"subscribe": "a", "startingOffsets": "earliest"})
    reader: Any = provider.stream_reader(provider.schema())
    reader._client, reader._time = (cluster := FakeCluster({A0: (0, 50)})), MockTime()
    if not restarted:
        assert (reader.initialOffset(), reader.latestOffset()) == ({"a": {"0": 0}}, {"a": {"0": 50}})
    cluster.just_started = 2
    assert reader.latestOffset() == {"a": {"0": 50}}


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
