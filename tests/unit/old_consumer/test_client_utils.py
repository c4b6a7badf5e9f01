"""Addresses of brokers; metadata and coordinators, from whichever broker responds."""

from __future__ import annotations

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.old_consumer.client_utils import (
    BrokerEndPointNotAvailableError,
    channel_to_offset_manager,
    fetch_topic_metadata,
    find_offset_manager,
    get_plaintext_broker_end_points,
    get_plaintext_end_point,
    parse_broker_list,
    plaintext_end_point,
)
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.zookeeper.data import BrokerRegistration
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.fake_zookeeper import Tree, fake_zk

BROKERS = [BrokerEndPoint(number, "h", 9000 + number) for number in range(3)]


def test_plaintext_end_points() -> None:
    internal = BrokerRegistration(
        ("EXTERNAL://a:1", "INTERNAL://b:2", "PLAINTEXT://c:3"),
        {"EXTERNAL": "SSL", "INTERNAL": "PLAINTEXT", "PLAINTEXT": "PLAINTEXT"},
    )
    assert plaintext_end_point(5, internal) == BrokerEndPoint(5, "b", 2)
    assert plaintext_end_point(6, BrokerRegistration(("PLAINTEXT://[::1]:9092",))) == (6, "::1", 9092)
    secure = BrokerRegistration(("SSL://a:1",), {"SSL": "SSL"})
    assert plaintext_end_point(7, secure) is None
    zk = fake_zk(Tree())
    zk.zookeeper.ensure_path("/brokers/ids")
    assert get_plaintext_broker_end_points(zk) == []
    zk.register_broker(7, secure)
    with pytest.raises(BrokerEndPointNotAvailableError, match=r"\[7\]"):
        get_plaintext_broker_end_points(zk)
    zk.register_broker(5, internal)
    assert get_plaintext_broker_end_points(zk) == [(5, "b", 2)]


def test_a_list_of_brokers_is_parsed() -> None:
    assert parse_broker_list("a:1, PLAINTEXT://b:2,") == [(0, "a", 1), (1, "b", 2)]
    with pytest.raises(KafkaError, match="host:port"):
        parse_broker_list("a")


# ── Requests to whichever broker responds ─────────────────────────────────────────────────────────────────────────────


def test_the_only_broker_that_responds_is_enough(brokers: BlockingBrokers, caplog: pytest.LogCaptureFixture) -> None:
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=2, host="h", port=9002)], topics=[MetadataResponseTopic(name="t")]
    )
    brokers.answer(9002, MetadataRequest, response)
    for _ in range(5):  # in random order
        found = fetch_topic_metadata(["t"], BROKERS, "c", 1000)
        assert [each.name for each in found.topics] == ["t"]
    assert "Fetching topic metadata for topics ['t'] from broker" in caplog.text
    assert brokers.open == 0


def test_all_topics_are_asked_for_without_a_list(brokers: BlockingBrokers) -> None:
    brokers.answer(9001, MetadataRequest, MetadataResponse())
    fetch_topic_metadata([], BROKERS[1:2], "c", 1000)
    assert [each.topics for each in brokers.sent_to(9001)] == [[]]


def test_the_message_names_the_brokers_and_the_reason(brokers: BlockingBrokers) -> None:
    with pytest.raises(
        KafkaError, match=r"topics \['t'\] from brokers \['h:9000', .*\] failed: cannot connect to h:900"
    ):
        fetch_topic_metadata(["t"], BROKERS, "c", 1000)
    with pytest.raises(KafkaError, match=r"all topics from brokers \[\] failed: None"):
        fetch_topic_metadata([], [], "c", 1000)
    assert brokers.requests == []


def test_the_coordinator_is_found_by_any_broker(brokers: BlockingBrokers) -> None:
    found = FindCoordinatorResponse(node_id=7, host="far", port=9999)
    brokers.answer(9002, FindCoordinatorRequest, found)
    for _ in range(5):
        assert find_offset_manager("g", BROKERS, 1000) == (7, "far", 9999)
    assert {each.key for each in brokers.sent_to(9002)} == {"g"}


def test_a_coordinator_that_is_not_known_is_an_error(brokers: BlockingBrokers) -> None:
    for broker in BROKERS:
        response = FindCoordinatorResponse(error_code=Errors.COORDINATOR_NOT_AVAILABLE.code, host="", port=-1)
        brokers.answer(broker.port, FindCoordinatorRequest, response)
    with pytest.raises(ApiError) as caught:
        find_offset_manager("g", BROKERS, 1000)
    assert caught.value.error is Errors.COORDINATOR_NOT_AVAILABLE
    assert len(brokers.requests) == 1, "an answer, so the others are not asked"
    for broker in BROKERS:
        brokers.stop(broker.port)
    with pytest.raises(KafkaError, match="none of 3 brokers returned the offset manager of g"):
        find_offset_manager("g", BROKERS, 1000)


@pytest.fixture
def zk() -> KafkaZkClient:
    client = fake_zk(Tree())
    client.zookeeper.ensure_path("/brokers/ids")
    client.register_broker(1, BrokerRegistration(("PLAINTEXT://h:9001",)))
    return client


def test_the_channel_leads_to_the_coordinator(brokers: BlockingBrokers, zk: KafkaZkClient) -> None:
    brokers.answer(9001, FindCoordinatorRequest, FindCoordinatorResponse(node_id=2, host="h", port=9002))
    with pytest.raises(NotConnectedError, match="h:9002"):
        channel_to_offset_manager("g", zk, "c", 1000)
    brokers.answer(9002, MetadataRequest, MetadataResponse())
    channel = channel_to_offset_manager("g", zk, "c", 1000)
    assert (channel.host, channel.port, channel.is_connected) == ("h", 9002, True)
    assert brokers.open == 1


def test_the_end_point_of_one_broker(zk: KafkaZkClient) -> None:
    zk.register_broker(2, BrokerRegistration(("SSL://h:9002",)))
    assert get_plaintext_end_point(zk, 1) == (1, "h", 9001)
    assert get_plaintext_end_point(zk, 2) is None, "no plaintext listener"
    assert get_plaintext_end_point(zk, 3) is None, "not alive"
