"""What the examples share: a topic that does not exist is an error, not a topic without partitions."""

from __future__ import annotations

from typing import Any

import pytest

from examples.running import partitions_of
from examples.smoke_test import driver
from examples.word_count import __main__ as word_count
from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.errors import ApiError
from kafka_lite.common.topic_partition import TopicPartition


class Consumer:
    """A consumer of a cluster with the topic ``echo``, and no other."""

    closed = False

    def __init__(self, _: object = None) -> None:
        pass

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        return [PartitionInfo(topic, number, None) for number in range(2 if topic == "echo" else 0)]

    def assign(self, _: object) -> None:
        raise AssertionError("not every topic is there")

    def close(self) -> None:
        self.closed = True


def test_partitions_of_an_unknown_topic_are_an_error() -> None:
    consumer: Any = Consumer()
    assert partitions_of(consumer, "echo") == [TopicPartition("echo", 0), TopicPartition("echo", 1)]
    with pytest.raises(ApiError, match="There is no topic word-counts"):
        partitions_of(consumer, "word-counts")


def test_word_count_without_its_output_topic_prints_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_count, "KafkaConsumer", Consumer)
    with pytest.raises(ApiError, match="There is no topic word-counts"):
        word_count.CountsPrinter("127.0.0.1:1")


def test_the_smoke_tests_driver_without_its_topics_closes_its_consumer(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer = Consumer()
    monkeypatch.setattr(driver, "KafkaConsumer", lambda _: consumer)
    with pytest.raises(ApiError, match="There is no topic"):
        driver.Verifier("127.0.0.1:1", [])
    assert consumer.closed
