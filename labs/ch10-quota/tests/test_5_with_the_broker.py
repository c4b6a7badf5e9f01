"""Task 5: the broker delays producers with your code."""

import time
from contextlib import contextmanager

import pytest

from kafka_learn.labs.clients import TOPIC, create_topic
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_49_alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records

RATE = 100_000
VERSION = 9


@pytest.fixture(scope="module")
def limited(broker):
    """A broker with quotas: of the client id ``slow``, of the user's client ``both``, and of the default client id."""
    create_topic(broker)
    with client(broker, "admin") as admin:
        quotas = (
            ({"client-id": "slow"}, RATE),
            ({"user": "ANONYMOUS", "client-id": "both"}, RATE),
            ({"client-id": None}, 1e9),
        )
        for entity, rate in quotas:
            parts = [EntityData(entity_type=part, entity_name=name) for part, name in entity.items()]
            ops = [OpData(key="producer_byte_rate", value=float(rate))]
            admin.exchange(AlterClientQuotasRequest(entries=[EntryData(entity=parts, ops=ops)]), 1)
    time.sleep(1)  # until the broker has read them
    return broker


@contextmanager
def client(broker, client_id):
    host, _, port = broker.bootstrap_servers.rpartition(":")
    try:
        with BlockingChannel(host, int(port), client_id=client_id, read_timeout_ms=40_000) as channel:
            yield channel
    except ConnectionError as error:
        pytest.fail(f"the broker does not respond: {error}\n{broker.log_tail()}")


def delay_of(channel, size):
    """Produce a record, and return the throttle time of the response in ms."""
    records = memory_records(2, CompressionType.NONE, [(None, b"x" * size)], timestamp=1)
    data = PartitionProduceData(index=0, records=records)
    topics = [TopicProduceData(name=TOPIC, partition_data=[data])]
    return channel.exchange(ProduceRequest(acks=1, timeout_ms=30_000, topic_data=topics), VERSION).throttle_time_ms


@pytest.mark.points(7, task=5)
def test_a_burst_is_free_and_what_follows_is_not(limited):
    """A quota of 100 kB/s: 900 kB, then 150 kB more, then one record"""
    with client(limited, "slow") as channel:
        first = delay_of(channel, 9 * RATE)
        assert first == 0, f"nine seconds' worth are free, but the delay is {first} ms"
        began = time.monotonic()
        delay_ms = delay_of(channel, 3 * RATE // 2)
        assert 0 < delay_ms <= 600, f"half a second's worth too much: a delay of some 500 ms, not {delay_ms}"
        delay_of(channel, 1)
        waited_ms = (time.monotonic() - began) * 1000
        assert waited_ms >= delay_ms - 50, f"the next request waits for {delay_ms} ms, but took {waited_ms:.0f}"


@pytest.mark.points(4, task=5)
def test_the_quota_of_a_users_client_counts(limited):
    """The user's client has 100 kB/s, the default client id 1 GB/s"""
    with client(limited, "both") as channel:
        delay_ms = delay_of(channel, 11 * RATE)
        assert delay_ms > 0, "the user's client has a quota of its own, which counts before that of all client ids"


@pytest.mark.points(4, task=5)
def test_others_are_not_delayed(limited):
    """The default client id has 1 GB/s"""
    with client(limited, "other") as channel:
        delay_ms = delay_of(channel, 11 * RATE)
        assert delay_ms == 0, (
            f"this client's quota is that of the default client id, but it is delayed by {delay_ms} ms"
        )
