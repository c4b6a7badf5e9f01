"""One request, one response: versions, the one more try over a new connection, and what a closed consumer does."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.old_consumer.consumer_stats import FetchRequestAndResponseStats
from kafka_lite.old_consumer.simple.simple_consumer import EARLIEST_TIME, LATEST_TIME, SimpleConsumer
from kafka_lite.old_consumer.simple.simple_fetch import FetchRequestBuilder
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_08_offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.message_chunks import message_set

T0 = TopicPartition("t", 0)


@pytest.fixture
def consumer() -> SimpleConsumer:
    return SimpleConsumer("h", 9001, 1000, -1, "c")


def fetched(value: bytes = b"a", throttle_ms: int = 0) -> FetchResponse:
    data = PartitionData(partition_index=0, high_watermark=9, records=bytes(message_set(5, value).buffer))
    topics = [FetchableTopicResponse(topic="t", partitions=[data])]
    return FetchResponse(throttle_time_ms=throttle_ms, responses=topics)


def listed(*offsets: int, error: Errors = Errors.NONE) -> ListOffsetsResponse:
    found = ListOffsetsPartitionResponse(partition_index=0, old_style_offsets=list(offsets), error_code=error.code)
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[found])])


def test_each_request_has_the_version_of_its_time(brokers: BlockingBrokers, consumer: SimpleConsumer) -> None:
    brokers.answer(9001, FetchRequest, fetched())
    brokers.answer(9001, MetadataRequest, MetadataResponse())
    brokers.answer(9001, ListOffsetsRequest, listed(4))
    brokers.answer(9001, FindCoordinatorRequest, FindCoordinatorResponse(node_id=1, host="h", port=1))
    brokers.answer(9001, OffsetCommitRequest, OffsetCommitResponse())
    brokers.answer(9001, OffsetFetchRequest, OffsetFetchResponse())
    with consumer:
        for version in (0, 3):
            consumer.fetch(FetchRequestBuilder().request_version(version).add_fetch("t", 0, 5, 100).build())
        consumer.send_metadata_request(["t"])
        consumer.earliest_or_latest_offset(T0, LATEST_TIME)
        assert consumer.send_group_coordinator_request("g").port == 1
        for version in (0, 2):
            consumer.commit_offsets(OffsetCommitRequest(group_id="g"), version)
            topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
            consumer.fetch_offsets(OffsetFetchRequest(group_id="g", topics=topics), version)
    assert [(int(request.API_KEY), version) for _, request, version in brokers.requests] == [
        (1, 0), (1, 3), (3, 0), (2, 0), (10, 0), (8, 0), (9, 0), (8, 2), (9, 2)
    ]  # fmt: skip
    assert brokers.opened == [9001], "all over one connection"


def test_a_fetched_set_is_read_and_measured(brokers: BlockingBrokers) -> None:
    registry = MetricsRegistry()
    brokers.answer(9001, FetchRequest, fetched(b"abc", throttle_ms=12))
    consumer = SimpleConsumer("h", 9001, 1000, -1, "c", FetchRequestAndResponseStats("c", registry), MockTime())
    response = consumer.fetch(FetchRequestBuilder().add_fetch("t", 0, 5, 100).build())
    assert [(each.offset, each.value) for each in response.message_set("t", 0)] == [(5, b"abc")]
    beans = {name.mbean_name: bean for name, bean in registry.beans().items()}
    prefix = "kafka.consumer:type=FetchRequestAndResponseMetrics,name="
    assert beans[f"{prefix}FetchResponseSize,clientId=c"]["Max"] == response.size_in_bytes > 0
    assert beans[f"{prefix}FetchRequestThrottleRateAndTimeMs,clientId=c"]["Max"] == 12
    assert beans[f"{prefix}FetchRequestRateAndTimeMs,clientId=c,brokerHost=h,brokerPort=9001"]["Count"] == 1


def test_a_request_is_sent_once_more_over_a_new_connection(brokers: BlockingBrokers, consumer: SimpleConsumer) -> None:
    brokers.answer(9001, MetadataRequest, NotConnectedError("reset by peer"), MetadataResponse())
    assert consumer.send_metadata_request(["t"]).topics == []
    assert brokers.opened == [9001, 9001]


def test_a_second_failure_is_raised_and_the_next_request_connects(
    brokers: BlockingBrokers, consumer: SimpleConsumer
) -> None:
    lost = NotConnectedError("reset by peer")
    brokers.answer(9001, MetadataRequest, lost, lost, MetadataResponse())
    with pytest.raises(NotConnectedError, match="reset by peer"):
        consumer.send_metadata_request([])
    assert consumer.send_metadata_request([]).topics == []
    assert len(brokers.opened) == 3


def test_a_closed_consumer_does_not_connect_again(brokers: BlockingBrokers, consumer: SimpleConsumer) -> None:
    brokers.answer(9001, MetadataRequest, MetadataResponse())
    with consumer:
        consumer.send_metadata_request([])
    assert brokers.open == 0
    with pytest.raises(NotConnectedError, match="the consumer for h:9001 is closed"):
        consumer.send_metadata_request([])
    assert brokers.opened == [9001]


def test_a_request_that_was_interrupted_is_not_repeated(brokers: BlockingBrokers, consumer: SimpleConsumer) -> None:
    def interrupted(_request: object) -> Exception:
        consumer.abort()  # by another thread, while this one waits
        return NotConnectedError("aborted")

    brokers.answer(9001, MetadataRequest, interrupted)
    with pytest.raises(NotConnectedError, match="aborted"):
        consumer.send_metadata_request([])
    assert len(brokers.requests) == 1


@pytest.mark.parametrize("time", [EARLIEST_TIME, LATEST_TIME])
def test_the_first_base_offset_is_the_offset(brokers: BlockingBrokers, consumer: SimpleConsumer, time: int) -> None:
    brokers.answer(9001, ListOffsetsRequest, listed(40, 20, 0))
    assert consumer.earliest_or_latest_offset(T0, time) == 40
    (request,) = brokers.sent_to(9001)
    (asked,) = request.topics[0].partitions
    assert (asked.partition_index, asked.timestamp, asked.max_num_offsets) == (0, time, 1)
    assert request.replica_id == -1


def test_an_offset_that_the_broker_does_not_tell_is_an_error(
    brokers: BlockingBrokers, consumer: SimpleConsumer
) -> None:
    brokers.answer(9001, ListOffsetsRequest, listed(7, error=Errors.NOT_LEADER_OR_FOLLOWER), listed())
    with pytest.raises(ApiError) as caught:
        consumer.earliest_or_latest_offset(T0, LATEST_TIME)
    assert caught.value.error is Errors.NOT_LEADER_OR_FOLLOWER
    with pytest.raises(KafkaError, match="h:9001 did not return the offset of t-0"):
        consumer.earliest_or_latest_offset(T0, LATEST_TIME)
