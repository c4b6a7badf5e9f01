"""Configuration keys of brokers and topics whose effect a client sees."""

import pytest

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.producer import KafkaProducer, ProducerRecord, producer_config
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest
from kafka_lite.protocol.messages.api_33_alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s

MESSAGE_TOO_LARGE = 10


@pytest.fixture(scope="module")
def cluster():
    config = {"fetch.max.bytes": "2048", "message.max.bytes": "3000", "num.partitions": "3"}
    with Cluster({**config, "log.retention.ms": "-1"}) as cluster:  # the records have timestamps of 1970
        yield cluster


@pytest.fixture(scope="module")
def channel(cluster):
    host, port = cluster.bootstrap_servers.split(":")
    with BlockingChannel(host, int(port)) as channel:
        topics = [CreatableTopic(name=name, num_partitions=-1, replication_factor=-1) for name in ("fetched", "sized")]
        response = channel.exchange(CreateTopicsRequest(topics=topics, timeout_ms=30_000), 5)
        assert [(topic.error_code, topic.num_partitions) for topic in response.topics] == [(0, 3), (0, 3)]
        yield channel


def produce(channel, topic, partition, size):
    builder = MemoryRecordsBuilder(2, CompressionType.NONE)
    builder.append(0, None, bytes(size))
    data = PartitionProduceData(index=partition, records=builder.build())
    request = ProduceRequest(acks=1, timeout_ms=5000, topic_data=[TopicProduceData(name=topic, partition_data=[data])])
    return channel.exchange(request, 7).responses[0].partition_responses[0].error_code


def test_fetch_max_bytes_limits_every_fetch(channel):
    for partition in range(3):
        for _ in range(2):
            assert produce(channel, "fetched", partition, 900) == 0
    partitions = [FetchPartition(partition=p, fetch_offset=0, partition_max_bytes=1 << 20) for p in range(3)]
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=100,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=[FetchTopic(topic="fetched", partitions=partitions)],
    )
    response = channel.exchange(request, 4)
    sizes = [len(p.records or b"") for p in response.responses[0].partitions]
    assert sum(sizes) <= 2048
    assert sum(sizes) > 1800


def test_max_message_bytes_of_a_topic_can_be_changed_while_it_is_used(channel):
    assert produce(channel, "sized", 0, 2000) == 0
    assert produce(channel, "sized", 0, 4000) == MESSAGE_TOO_LARGE
    bigger = AlterConfigsResource(
        resource_type=2, resource_name="sized", configs=[AlterableConfig(name="max.message.bytes", value="5000")]
    )
    response = channel.exchange(AlterConfigsRequest(resources=[bigger]), 0)
    assert response.responses[0].error_code == 0
    # ZooKeeper notifies the broker of the change.
    eventually(lambda: produce(channel, "sized", 0, 4000) == 0)
    assert produce(channel, "sized", 0, 6000) == MESSAGE_TOO_LARGE


def test_the_largest_record_of_a_default_producer_fits_into_a_default_topic():
    with Cluster() as cluster, KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        largest = producer_config.CONFIG.keys["max.request.size"].default - 100  # what batch and record add
        assert producer.send(ProducerRecord("t", bytes(largest))).get(1000 * patient_s(60)).offset == 0
