"""``kafka-lite streams-application-reset``: the application begins again with its input, and without its old state."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.word_count.topology import TEXT, WORD_COUNTS, five_lines
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import main
from kafka_lite.tools.streams.streams_application_reset import is_internal
from tests.support.eventually import eventually

INTERNAL = {"word-count-Counts-changelog", "word-count-Counts-repartition"}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as running:
        for topic in (TEXT, WORD_COUNTS, "through"):
            running.create_topic(topic, 1)
        yield running


def application(cluster: Cluster, tmp_path: Path) -> KafkaStreams:
    configs = {
        "application.id": "word-count",
        "bootstrap.servers": cluster.bootstrap_servers,
        "state.dir": str(tmp_path),
        "commit.interval.ms": 100,
        "internal.leave.group.on.close": True,
    }
    return KafkaStreams(five_lines(), configs)


def reset(cluster: Cluster, *more: str) -> int:
    servers = ["--bootstrap-servers", cluster.bootstrap_servers]
    topics = ["--input-topics", TEXT, "--intermediate-topics", "through"]
    return main(["streams-application-reset", "--application-id", "word-count", *servers, *topics, *more])


def committed(cluster: Cluster, topic: str) -> int | None:
    group = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "word-count", "enable.auto.commit": False}
    with KafkaConsumer(group) as consumer:
        found = consumer.committed([TopicPartition(topic, 0)])[TopicPartition(topic, 0)]
    return None if found is None else found.offset


def test_an_application_begins_again(cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.produce(TEXT, "to be or not to be")
    cluster.produce("through", "old")
    with application(cluster, tmp_path) as streams:
        streams.start()
        eventually(lambda: committed(cluster, TEXT) == 1)
        eventually(lambda: cluster.records(WORD_COUNTS))
        assert reset(cluster) == 1
        assert "Consumer group 'word-count' is still active with 1 members" in capsys.readouterr().err
    assert reset(cluster, "--dry-run") == 0
    shown = capsys.readouterr()
    assert f"Topic: {TEXT} Partition: 0 Offset: 0" in shown.out
    assert "Topic: through Partition: 0 Offset: 1" in shown.out
    assert set(cluster.topics) >= INTERNAL
    assert committed(cluster, TEXT) == 1, "a dry run changes nothing"
    assert reset(cluster) == 0
    assert (committed(cluster, TEXT), committed(cluster, "through")) == (0, 1)
    eventually(lambda: not INTERNAL & set(cluster.topics))


def test_internal_topics_are_those_of_the_application() -> None:
    assert is_internal("app-store-changelog", "app")
    assert is_internal("app-store-repartition", "app")
    assert not is_internal("app2-store-changelog", "app")
    assert not is_internal("app-orders", "app")
