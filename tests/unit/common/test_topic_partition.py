"""Cached TopicPartitions."""

from __future__ import annotations

import tracemalloc

from kafka_lite.common import topic_partition
from kafka_lite.common.topic_partition import MAX_KEPT, MAX_NAME_LENGTH, TopicPartition, known_topic_partition


def test_equal_arguments_return_the_same_object() -> None:
    first = known_topic_partition("a-topic", 7)
    assert first == TopicPartition("a-topic", 7)
    assert known_topic_partition("a-topic", 7) is first
    assert known_topic_partition("a-topic", 8) == TopicPartition("a-topic", 8)


def test_a_client_cannot_fill_the_memory_with_names() -> None:
    """Names come from requests, before the broker checks whether the topic exists."""
    before = len(topic_partition._kept)
    tracemalloc.start()
    try:
        for number in range(100):
            name = f"{number:03}" + "x" * 30_000
            assert known_topic_partition(name, 0) == TopicPartition(name, 0)
        kept_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept_bytes < 200_000
    assert len(topic_partition._kept) == before
    for number in range(MAX_KEPT + 10):
        known_topic_partition("x" * MAX_NAME_LENGTH, number)
    assert len(topic_partition._kept) <= MAX_KEPT
