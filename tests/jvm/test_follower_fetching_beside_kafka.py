"""Kafka 3.9.1 and our broker lead a partition in turn, each in a rack: both send consumers to each other (KIP-392)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from confluent_kafka import Consumer, Producer

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from tests.support.eventually import eventually
from tests.support.jvm import classpath, compile_java, run_java
from tests.support.mixed_cluster import OURS, MixedCluster, mixed_cluster
from tests.support.patient_clients import flush, next_message
from tests.support.real_kafka import TODAYS

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(240)]

TOPIC, US, THEM = "near", 1, 2
RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
SETTINGS = {"replica.selector.class": RACK_AWARE, "min.insync.replicas": "1", "replica.fetch.wait.max.ms": "100"}
JAVA = """
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

public class NearReader {
    public static void main(String[] args) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", args[0]);
        config.put("client.rack", args[2]);
        TopicPartition partition = new TopicPartition(args[1], 0);
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            int left = Integer.parseInt(args[3]);
            while (left > 0)
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                    System.out.println(record.value());
                    left--;
                }
            consumer.metrics().forEach((name, metric) -> {
                if (name.name().equals("preferred-read-replica")) System.out.println("from " + metric.metricValue());
            });
        }
    }
}
"""


def produce(cluster: MixedCluster, *values: str) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
    for value in values:
        producer.produce(TOPIC, value.encode(), partition=0)
        flush(producer)


def answer(cluster: MixedCluster, broker_id: int, rack: str, offset: int, version: int) -> tuple[Any, ...]:
    """What a broker answers to a consumer."""
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic=TOPIC, partitions=[asked])]
    request = FetchRequest(replica_id=-1, max_wait_ms=0, min_bytes=0, topics=topics, rack_id=rack)
    host, _, port = cluster.brokers[broker_id].process.bootstrap_servers.rpartition(":")
    with BlockingChannel(host, int(port), read_timeout_ms=60_000) as channel:
        response = cast(FetchResponse, channel.exchange(request, version))
    data = response.responses[0].partitions[0]
    replica = {-1: "here", US: "there", THEM: "there"}[data.preferred_read_replica]
    bounds = (data.high_watermark, data.last_stable_offset, data.log_start_offset)
    return data.error_code, replica, bounds, data.aborted_transactions, bytes(data.records or b"")  # type: ignore[arg-type]


def answers(cluster: MixedCluster, leader: int) -> Mapping[tuple[object, ...], tuple[Any, ...]]:
    """Everything that consumers are told while this broker leads."""
    follower = US + THEM - leader
    racks = {"leader's": f"r{leader}", "follower's": f"r{follower}", "another": "r9", "none": ""}
    cases = itertools.product([("leader", leader), ("follower", follower)], racks, range(-1, 7), [10, 11, 12])
    return {
        (role, rack, offset, version): answer(cluster, broker_id, racks[rack], offset, version)
        for (role, broker_id), rack, offset, version in cases
    }


def read_by_librdkafka(cluster: MixedCluster, rack: str, count: int) -> list[str]:
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers, "client.rack": rack, "group.id": f"of-{rack}",
            "auto.offset.reset": "earliest",
        }
    )  # fmt: skip
    consumer.subscribe([TOPIC])
    values: list[str] = []
    while len(values) < count:
        message = next_message(consumer, values)
        if not message.error():
            values.append((message.value() or b"").decode())
    consumer.close()
    return values


def test_both_send_consumers_to_the_follower_in_their_rack_and_serve_them(tmp_path: Path) -> None:
    jars = classpath("org.apache.kafka:kafka-clients:4.1.0", "org.slf4j:slf4j-nop:1.7.36")
    classes = compile_java(JAVA, jars)
    with mixed_cluster(tmp_path, {US: OURS, THEM: TODAYS}, SETTINGS) as cluster:
        for broker_id in (US, THEM):
            with (cluster.brokers[broker_id].folder / "server.properties").open("a") as file:
                file.write(f"\nbroker.rack=r{broker_id}\n")
            cluster.start_broker(broker_id)
        cluster.create_assigned(TOPIC, {0: [US, THEM]})
        produce(cluster, "a", "b", "c", "d", "e")
        cluster.await_in_sync(TOPIC)
        found = {}
        for leader in (US, THEM):
            if leader == THEM:
                cluster.stop_broker(US)
                eventually(lambda: cluster.led_by(THEM, TOPIC) == {0}, lambda: cluster.states(TOPIC))
                cluster.start_broker(US)
                cluster.await_in_sync(TOPIC)
            follower = US + THEM - leader
            end = lambda: answer(cluster, follower, "", 0, 11)[2][0]  # noqa: B023, E731
            eventually(lambda: end() == 5, end)  # noqa: B023
            found[leader] = answers(cluster, leader)
            for rack in (f"r{leader}", f"r{follower}"):
                done = run_java("NearReader", cluster.bootstrap_servers, TOPIC, rack, "5", classpath=[classes, *jars])
                near = -1 if rack == f"r{leader}" else follower
                assert done.stdout.split("\n")[:6] == ["a", "b", "c", "d", "e", f"from {near}"], done.stdout
            assert read_by_librdkafka(cluster, f"r{follower}", 5) == ["a", "b", "c", "d", "e"]
        unequal = {
            case: (found[US][case], found[THEM][case]) for case in found[US] if found[US][case] != found[THEM][case]
        }
        assert unequal == {}
        assert {each[1] for each in found[US].values()} == {"here", "there"}
