"""Which requests are handled one at a time; the tests of Produce are with ``heavy_produces``."""

from __future__ import annotations

import pytest

from kafka_lite.clients.fetch_metadata import INVALID_SESSION_ID
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message
from kafka_lite.server.heavy_produces import MAX_PARTITIONS_AT_ONCE
from kafka_lite.server.heavy_requests import HeavyRequests


def is_heavy(api_key: ApiKey, body: Message) -> bool:
    """With fetch sessions of each size, which is their id."""
    header = RequestHeader(api_key=api_key, api_version=7, correlation_id=1)
    return HeavyRequests(lambda size: size).includes(Request(0, "c", "P", "P", "127.0.0.1", header, body, 1, 0))


def fetch(named: int, remembered: int, replica_id: int = -1) -> FetchRequest:
    half = named // 2
    partitions = [[FetchPartition(partition=n) for n in range(count)] for count in (half, named - half)]
    topics = [FetchTopic(topic=f"t{number}", partitions=each) for number, each in enumerate(partitions)]
    return FetchRequest(replica_id=replica_id, session_id=remembered, topics=topics)


@pytest.mark.parametrize(
    ("named", "remembered", "heavy"),
    [
        (MAX_PARTITIONS_AT_ONCE, 0, False),
        (MAX_PARTITIONS_AT_ONCE + 1, 0, True),
        (0, MAX_PARTITIONS_AT_ONCE, False),
        (1, MAX_PARTITIONS_AT_ONCE, True),
    ],
)
def test_a_consumers_fetch_of_many_partitions_is_heavy_and_a_followers_is_not(
    named: int, remembered: int, heavy: bool
) -> None:
    assert is_heavy(ApiKey.FETCH, fetch(named, remembered)) is heavy
    assert not is_heavy(ApiKey.FETCH, fetch(named, remembered, replica_id=1))


def test_produce_requests_are_judged_and_others_are_not_heavy() -> None:
    many = ProduceRequest(topic_data=[TopicProduceData(name="t") for _ in range(MAX_PARTITIONS_AT_ONCE + 1)])
    assert is_heavy(ApiKey.PRODUCE, many)
    assert not is_heavy(ApiKey.PRODUCE, ProduceRequest())
    assert not is_heavy(ApiKey.HEARTBEAT, HeartbeatRequest())


@pytest.mark.parametrize("replica_id", [0, 1])
def test_the_broker_with_the_id_zero_is_a_follower_like_any_other(replica_id: int) -> None:
    assert not is_heavy(ApiKey.FETCH, fetch(MAX_PARTITIONS_AT_ONCE + 1, 0, replica_id))


def test_without_a_session_none_is_looked_up() -> None:
    header = RequestHeader(api_key=ApiKey.FETCH, api_version=7, correlation_id=1)
    request = Request(0, "c", "P", "P", "127.0.0.1", header, fetch(2, INVALID_SESSION_ID), 1, 0)
    assert not HeavyRequests(lambda _: pytest.fail("there is no session")).includes(request)
