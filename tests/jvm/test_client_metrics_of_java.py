"""Kafka's tool sets a subscription on our broker, and Java's producer pushes its metrics (KIP-714)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.metrics.metric_name import ObjectNamePattern
from kafka_lite.testing.cluster import Cluster
from tests.support.jvm import classpath, compile_java, run_java
from tests.support.kafka_tools import JARS, our_tool, words

pytestmark = pytest.mark.jvm

TOOL = "org.apache.kafka.tools.ClientMetricsCommand"
SLF4J = "org.slf4j:slf4j-nop:1.7.36"
PRODUCER = """
import java.util.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.*;

public class PushingProducer {
    public static void main(String[] args) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", args[0]);
        config.put("client.id", "java-" + args[1]);
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < 20; i++) {
                producer.send(new ProducerRecord<>("pushed", "v" + i)).get();
                Thread.sleep(50);
            }
            System.out.println(producer.clientInstanceId(java.time.Duration.ofSeconds(20)));
        }
    }
}
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


def test_kafkas_tool_and_ours_see_the_same(cluster: Cluster) -> None:
    jars = classpath(*JARS["3.9.1"])
    servers = ("--bootstrap-server", cluster.bootstrap_servers)

    def theirs(*arguments: str) -> str:
        return run_java(TOOL, *servers, *arguments, classpath=jars).stdout

    arguments = ("--alter", "--name", "s", "--interval", "200", "--metrics", "a.,b.", "--match", "client_id=x.*")
    assert "Altered client metrics config for s." in theirs(*arguments)
    assert words(theirs("--describe", "--name", "s")) == words(
        our_tool("client-metrics", *servers, "--describe").output
    )
    assert theirs("--list").split() == our_tool("client-metrics", *servers, "--list").output.split() == ["s"]
    assert "Deleted client metrics config for s." in theirs("--delete", "--name", "s")
    assert our_tool("client-metrics", *servers, "--list").output.split() == []


@pytest.mark.parametrize("version", ["3.9.1", "4.1.0"])
def test_javas_producer_pushes_its_metrics(cluster: Cluster, version: str) -> None:
    jars = classpath(f"org.apache.kafka:kafka-clients:{version}", SLF4J)
    classes = compile_java(PRODUCER, jars)
    setting = (
        "--name",
        "all",
        "--metrics",
        "*",
        "--interval",
        "100",
        "--match",
        "client_software_name=apache-kafka-java",
    )
    assert our_tool("client-metrics", "--bootstrap-server", cluster.bootstrap_servers, "--alter", *setting).code == 0
    done = run_java("PushingProducer", cluster.bootstrap_servers, version, classpath=[classes, *jars])
    instance_id = done.stdout.split()[-1]
    beans = cluster.server.metrics.beans.query(ObjectNamePattern.parse("kafka.client:type=client-telemetry,*"))
    (found,) = [
        (name, values) for name, values in beans.items() if name.properties["client_instance_id"] == instance_id
    ]
    name, values = found
    assert name.properties["client_id"] == f"java-{version}"
    assert name.properties["client_software_version"] == version
    # A push that comes a moment too early is refused, and what it counted is lost, as with Kafka.
    assert 10 < values["org.apache.kafka.producer.topic.record.send.total{topic=pushed}"] <= 20
