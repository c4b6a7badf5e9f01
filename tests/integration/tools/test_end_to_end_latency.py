"""``kafka-lite end-to-end-latency`` with a broker."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.perf import end_to_end_latency


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"auto.create.topics.enable": "false"}) as running:
        running.create_topic("t", partitions=2)
        running.produce("t", b"of before, and not to be read", partition=0)
        yield running


def run(cluster: Cluster, topic: str, messages: str = "20") -> int:
    parser = argparse.ArgumentParser()
    end_to_end_latency.add_arguments(parser)
    return end_to_end_latency.run(parser.parse_args([cluster.bootstrap_servers, topic, messages, "all", "30"]))


def test_each_message_is_read_before_the_next_is_sent(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cluster, "t") == 0
    told = capsys.readouterr().out
    found = re.fullmatch(
        r"0\t\d+\.\d+\nAvg latency: (\d+\.\d{4}) ms\n\nPercentiles: 50th = (\d+), 99th = (\d+), 99.9th = (\d+)\n", told
    )
    assert found, told
    assert float(found[1]) > 0
    assert int(found[2]) <= int(found[3]) <= int(found[4])
    with KafkaConsumer({"bootstrap.servers": cluster.bootstrap_servers}) as consumer:
        partitions = [TopicPartition("t", 0), TopicPartition("t", 1)]
        assert sum(consumer.end_offsets(partitions).values()) == 21
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        values: list[bytes] = []
        while len(values) < 21:
            values += [record.value for record in consumer.poll(1000)]
    assert [(len(value), value.isupper()) for value in sorted(values)[:-1]] == [(30, True)] * 20


def test_a_message_of_another_producer_is_detected(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    poll = KafkaConsumer.poll

    def poll_what_another_wrote(self: KafkaConsumer, timeout_ms: float = 0) -> object:
        records = poll(self, timeout_ms)
        cluster.produce("t", b"of another")
        return records

    monkeypatch.setattr(KafkaConsumer, "poll", poll_what_another_wrote)
    assert run(cluster, "t") == 1
    assert "Is another producer writing to t?" in capsys.readouterr().err


def test_invalid_arguments_are_rejected(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cluster, "none") == 1
    assert "there is no topic none: create it with `kafka-lite topics" in capsys.readouterr().err
    assert run(cluster, "t", "0") == 1
    assert "should be greater than zero" in capsys.readouterr().err
