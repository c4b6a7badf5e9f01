"""Clients and tools take the bootstrap servers that Kafka's clients take: ``PLAINTEXT://``, several, spaces."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.spark.cluster_client import ClusterClient
from kafka_lite.streams.assignment.streams_kafka_client import StreamsKafkaClient
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import main
from tests.support.patience import patient_s

PARTITION = TopicPartition("t", 0)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        running.create_topic("t")
        yield running


@pytest.fixture
def servers(cluster: Cluster) -> str:
    """As testcontainers' Kafka module gives them, with a second one."""
    return f" PLAINTEXT://{cluster.bootstrap_servers} , {cluster.bootstrap_servers}"


def test_clients_of_both_generations_take_them(servers: str, cluster: Cluster) -> None:
    with KafkaProducer({"bootstrap.servers": servers}) as producer:
        producer.send(ProducerRecord("t", b"new")).get(1000 * patient_s(60))
    old = Producer({"metadata.broker.list": servers, "producer.type": "sync", "request.required.acks": 1})
    old.send(KeyedMessage("t", b"old"))
    old.close()
    assert cluster.values("t") == [b"new", b"old"]
    with KafkaConsumer({"bootstrap.servers": servers}) as consumer:
        assert consumer.end_offsets([PARTITION]) == {PARTITION: 2}


def test_spark_and_streams_take_them(servers: str) -> None:
    with ClusterClient(servers.split(","), "spark", 30_000) as client:
        assert client.leader_of(PARTITION) == 0
    assert "t" in StreamsKafkaClient({"bootstrap.servers": servers}).fetch_topics().partition_counts


@pytest.mark.parametrize(
    "arguments",
    [
        ["topics", "--bootstrap-server", "SERVERS", "--list"],
        ["get-offsets", "--bootstrap-server", "SERVERS", "--topic", "t"],
        ["broker-api-versions", "--bootstrap-server", "SERVERS"],
        ["consumer-groups", "--bootstrap-server", "SERVERS", "--list"],
        ["simple-consumer-shell", "--broker-list", "SERVERS", "--topic", "t", "--no-wait-at-logend"],
        ["top", "--cluster", "--once", "--bootstrap-server", "SERVERS"],
        ["console-consumer", "--bootstrap-server", "SERVERS", "--topic", "t", "--timeout-ms", "200"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_tools_take_them(arguments: list[str], servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([servers if each == "SERVERS" else each for each in arguments]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    "tool", ["topics --list", "console-consumer --topic t", "top --cluster", "console-producer --topic t"]
)
def test_tools_say_that_tls_is_not_there_yet(tool: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *flags = tool.split()
    assert main([name, "--bootstrap-server", "SSL://127.0.0.1:9093", *flags]) == 1
    assert "SASL is not supported yet" in capsys.readouterr().err
