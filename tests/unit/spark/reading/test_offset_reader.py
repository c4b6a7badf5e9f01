"""Which partitions and offsets the driver of a Spark query finds, and what it asks for again."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_02_list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafka_lite.spark.cluster_client import ClusterUnreachableError
from kafka_lite.spark.offsets import Extreme, GlobalTimestamp, SparkOptionError, SpecificOffsets, SpecificTimestamps
from kafka_lite.spark.options import batch_options
from kafka_lite.spark.reading.offset_reader import OffsetReader
from tests.support.spark_cluster import FakeCluster

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
BASE = {"kafka.bootstrap.servers": "a:1", "fetchOffset.retryIntervalMs": "7"}
ONE_ATTEMPT = {"subscribe": "a", "fetchOffset.numRetries": "1"}


def offset_reader(cluster: FakeCluster, **given: str) -> OffsetReader:
    options = batch_options(BASE | (given or {"subscribe": "a"}))
    return OffsetReader(cluster, options, MockTime())  # type: ignore[arg-type]


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


@pytest.mark.parametrize("given", [{"subscribe": "a"}, {"subscribePattern": "a+"}, {"assign": '{"a":[0]}'}])
def test_partitions_that_are_unknown_for_a_moment_are_asked_for_again(given: dict[str, str]) -> None:
    cluster = FakeCluster({A0: (3, 10)})
    reader = offset_reader(cluster, **given)
    for ask in (
        reader.partitions,
        lambda: reader.existing_partitions([A0]),
        lambda: reader.latest_since({A0: 5}).keys(),
    ):
        cluster.just_started = 2
        assert set(ask()) == {A0}
        cluster.just_started = 2
        assert set(reader.latest_since({})) == {A0}, "what the options name is expected"


def test_a_partition_that_stays_unknown_has_been_deleted() -> None:
    reader = offset_reader(FakeCluster({A0: (3, 10)}))
    time = reader._time
    assert reader.existing_partitions([A0]) == {A0}
    assert time.hi_res_ms() == 0, "nothing is asked again without a doubt"
    assert reader.existing_partitions([A0, A1]) == {A0}
    assert time.hi_res_ms() == 14, "three attempts"
    assert reader.latest_since({A0: 4, B0: 7}) == {A0: 10}


def test_an_offset_that_a_response_leaves_out_is_an_error() -> None:
    class Silent(FakeCluster):
        def exchange(self, _request: object, _response: type) -> ListOffsetsResponse:
            return ListOffsetsResponse(topics=[])

    with pytest.raises(ApiError, match="no offsets of a-0"):
        offset_reader(Silent({A0: (3, 10)})).latest([A0])


def test_leaders_are_asked_in_the_order_of_partitions() -> None:
    asked: list[list[int]] = []

    class Noting(FakeCluster):
        def exchange(self, request: ListOffsetsRequest, response: type) -> ListOffsetsResponse:
            asked.append([each.partition_index for topic in request.topics for each in topic.partitions])
            return super().exchange(request, response)

    partitions = {TopicPartition("a", number) for number in range(40)}
    offset_reader(Noting(dict.fromkeys(partitions, (0, 1)))).latest(partitions)
    assert asked == [list(range(0, 40, 2)), list(range(1, 40, 2))]
