"""Metadata of topics: from which broker, for how long, and what an error leaves of it."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.old_producer.broker_partition_info import BrokerPartitionInfo, PartitionAndLeader
from kafka_lite.old_producer.producer_config import ProducerConfig
from kafka_lite.old_producer.producer_pool import ProducerPool, UnavailableProducerError
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.support.blocking_brokers import BlockingBrokers


def described(*leaders: int, error: Errors = Errors.NONE) -> MetadataResponse:
    """The topic ``t`` with these leaders, of the brokers 1 and 2."""
    partitions = [
        MetadataResponsePartition(partition_index=number, leader_id=leader, replica_nodes=[], isr_nodes=[])
        for number, leader in reversed(list(enumerate(leaders)))
    ]
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=number, host="h", port=9000 + number) for number in (1, 2)],
        topics=[MetadataResponseTopic(name="t", partitions=partitions, error_code=error.code)],
    )


@pytest.fixture
def pool() -> ProducerPool:
    return ProducerPool(ProducerConfig({"metadata.broker.list": "127.0.0.1:9001"}))


@pytest.fixture
def info(pool: ProducerPool) -> BrokerPartitionInfo:
    return BrokerPartitionInfo(
        ProducerConfig({"metadata.broker.list": "127.0.0.1:9001,127.0.0.1:9002,127.0.0.1:9003"}), pool
    )


def test_partitions_are_in_order_and_asked_for_once(brokers: BlockingBrokers, info: BrokerPartitionInfo) -> None:
    brokers.answer(9002, MetadataRequest, described(2, -1, 2))
    expected = [PartitionAndLeader("t", number, leader) for number, leader in enumerate((2, -1, 2))]
    assert info.get_broker_partition_info("t") == expected
    assert info.get_broker_partition_info("t") == expected
    assert len(brokers.requests) == 1
    assert brokers.open == 0, "the connection for metadata is not kept"


def test_leaders_get_producers_and_other_brokers_do_not(
    brokers: BlockingBrokers, info: BrokerPartitionInfo, pool: ProducerPool
) -> None:
    brokers.answer(9001, MetadataRequest, described(2, -1))
    info.update_info(["t"])
    assert pool.get_producer(2).port == 9002
    with pytest.raises(UnavailableProducerError):
        pool.get_producer(1)


def test_no_broker_that_responds_is_an_error(brokers: BlockingBrokers, info: BrokerPartitionInfo) -> None:
    with pytest.raises(KafkaError, match=r"topics \['t'\] from brokers .* failed: cannot connect to 127.0.0.1:900"):
        info.update_info(["t"])
    assert brokers.requests == []


def test_an_error_of_a_topic_leaves_its_last_metadata(brokers: BlockingBrokers, info: BrokerPartitionInfo) -> None:
    brokers.answer(9001, MetadataRequest, described(1), described(error=Errors.LEADER_NOT_AVAILABLE))
    info.update_info(["t"])
    info.update_info(["t"])
    assert info.get_broker_partition_info("t") == [PartitionAndLeader("t", 0, 1)]


@pytest.mark.parametrize("error", [Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.LEADER_NOT_AVAILABLE])
def test_a_topic_that_has_only_had_errors_has_no_metadata(
    brokers: BlockingBrokers, info: BrokerPartitionInfo, caplog: pytest.LogCaptureFixture, error: Errors
) -> None:
    brokers.answer(9001, MetadataRequest, described(error=error), described(1))
    with pytest.raises(KafkaError, match="Failed to fetch topic metadata for topic: t"):
        info.get_broker_partition_info("t")
    assert f"Error while fetching metadata of topic t: {error.name}" in caplog.text
    assert info.get_broker_partition_info("t") == [PartitionAndLeader("t", 0, 1)], "asked for again"


def test_a_topic_without_partitions_is_an_error(brokers: BlockingBrokers, info: BrokerPartitionInfo) -> None:
    brokers.answer(9001, MetadataRequest, described())
    with pytest.raises(KafkaError, match="Topic metadata of t has empty partition metadata") as caught:
        info.get_broker_partition_info("t")
    assert not isinstance(caught.value, ApiError)
