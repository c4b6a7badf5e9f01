"""One request at a time to one broker, with and without a response, and after a failure."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.old_producer.producer_stats import ProducerStatsRegistry
from kafka_lite.old_producer.sync_producer import SyncProducer
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest, ProduceResponse
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from tests.support.blocking_brokers import BlockingBrokers


@pytest.fixture
def producer() -> SyncProducer:
    return SyncProducer("h", 9001, "c", 1000)


def request(acks: int = 1) -> ProduceRequest:
    return ProduceRequest(acks=acks, timeout_ms=1000)


def test_requests_have_the_versions_of_0_10_2(brokers: BlockingBrokers, producer: SyncProducer) -> None:
    brokers.answer(9001, ProduceRequest, ProduceResponse(throttle_time_ms=3))
    brokers.answer(9001, MetadataRequest, MetadataResponse())
    response = producer.send(request())
    assert response is not None
    assert response.throttle_time_ms == 3
    assert producer.send_metadata_request(MetadataRequest(topics=[])).topics == []
    assert [(int(each.API_KEY), version) for _, each, version in brokers.requests] == [(0, 2), (3, 0)]
    assert brokers.opened == [9001]


def test_without_acks_nothing_is_awaited(brokers: BlockingBrokers, producer: SyncProducer) -> None:
    brokers.answer(9001, ProduceRequest, NotConnectedError("a broker does not respond to these"))
    assert producer.send(request(acks=0)) is None
    assert producer.send(request(acks=0)) is None
    assert (len(brokers.requests), brokers.opened) == (2, [9001])


def test_a_failure_closes_the_connection_and_the_next_request_opens_another(
    brokers: BlockingBrokers, producer: SyncProducer
) -> None:
    brokers.answer(9001, ProduceRequest, NotConnectedError("reset by peer"), ProduceResponse())
    with pytest.raises(NotConnectedError, match="reset by peer"):
        producer.send(request())
    assert (len(brokers.requests), brokers.open) == (1, 0), "it is the event handler that retries"
    assert producer.send(request()) is not None
    assert brokers.opened == [9001, 9001]


def test_a_closed_producer_stays_closed(brokers: BlockingBrokers, producer: SyncProducer) -> None:
    brokers.answer(9001, ProduceRequest, ProduceResponse())
    producer.send(request())
    producer.close()
    with pytest.raises(ConnectionError, match="the producer for h:9001 is closed"):
        producer.send(request())
    assert (brokers.open, brokers.opened) == (0, [9001])


def test_produce_requests_are_measured_and_metadata_is_not(brokers: BlockingBrokers) -> None:
    stats = ProducerStatsRegistry("c")
    brokers.answer(9001, ProduceRequest, ProduceResponse(throttle_time_ms=8))
    brokers.answer(9001, MetadataRequest, MetadataResponse())
    producer = SyncProducer("h", 9001, "c", 1000, stats.requests, MockTime(auto_tick_ms=5))
    producer.send(request())
    producer.send(request(acks=0))
    producer.send_metadata_request(MetadataRequest(topics=[]))
    beans = {name.mbean_name: bean for name, bean in stats.beans().items()}
    prefix, of_broker = "kafka.producer:type=ProducerRequestMetrics,name=", ",clientId=c,brokerHost=h,brokerPort=9001"
    assert beans[f"{prefix}ProducerRequestRateAndTimeMs{of_broker}"]["Count"] == 2
    assert beans[f"{prefix}ProducerRequestRateAndTimeMs{of_broker}"]["Mean"] == 5
    assert beans[f"{prefix}ProducerRequestThrottleRateAndTimeMs{of_broker}"]["Count"] == 1, "acks=0 has no response"
    assert beans[f"{prefix}ProducerRequestThrottleRateAndTimeMs{of_broker}"]["Max"] == 8
