"""A source topic that does not exist ends the application, at the start and later, and its handler learns why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.streams.errors import MissingSourceTopicError
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.word_count import configs_of


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    overrides = {"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1, "auto.create.topics.enable": False}
    with Cluster(overrides) as running:
        running.create_topic("kept", 1)
        yield running


class Application:
    """Copies two topics, and keeps the errors that end its threads."""

    def __init__(self, cluster: Cluster, state_dir: Path) -> None:
        builder = TopologyBuilder().add_source("kept", "kept").add_source("other", "other")
        builder.add_sink("out", "out", "kept", "other")
        configs = configs_of(cluster.bootstrap_servers, state_dir, metadata_max_age_ms=500)
        self.errors: list[Exception] = []
        self.streams = KafkaStreams(builder, {**configs, "internal.leave.group.on.close": True})
        self.streams.set_uncaught_exception_handler(self._on_error)

    def _on_error(self, _: Thread, error: Exception) -> None:
        self.errors.append(error)

    def await_the_end(self) -> None:
        eventually(lambda: self.errors, timeout_s=120)
        [error] = self.errors
        assert isinstance(error, MissingSourceTopicError)
        assert "The source topics other are missing" in str(error)
        eventually(lambda: self.streams.state is State.ERROR, timeout_s=60)


def committed_offset(cluster: Cluster) -> int | None:
    """The offset that the application has committed in the topic that will be deleted."""
    partition = TopicPartition("other", 0)
    with KafkaConsumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "word-count"}) as consumer:
        committed = consumer.committed([partition])[partition]
    return committed.offset if committed else None


def test_a_topic_that_is_unknown_at_the_start(cluster: Cluster, tmp_path: Path) -> None:
    application = Application(cluster, tmp_path)
    with application.streams:
        application.streams.start()
        application.await_the_end()


def test_a_topic_that_is_deleted_while_the_application_runs(cluster: Cluster, tmp_path: Path) -> None:
    """Otherwise it would look as if nothing came any more (KAFKA-10355)."""
    for topic in ("other", "out"):
        cluster.create_topic(topic, 1)
    application = Application(cluster, tmp_path)
    with application.streams:
        application.streams.start()
        cluster.produce("other", "first", key="k")
        eventually(lambda: cluster.values("out") == [b"first"], timeout_s=120)
        eventually(lambda: committed_offset(cluster) == 1, timeout_s=60)  # a deleted topic accepts no commit
        cluster.delete_topic("other")
        application.await_the_end()
