"""Shared by the examples: topics that exist, their partitions, and an application that runs until Ctrl-C."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.producer import KafkaProducer
from kafka_lite.streams.kafka_streams import KafkaStreams


def ensure_topics(bootstrap_server: str, topics: Iterable[str]) -> None:
    """Ask for topics: a broker creates those that do not exist. Raises KafkaError without a broker."""
    with KafkaProducer({"bootstrap.servers": bootstrap_server, "max.block.ms": 10_000}) as producer:
        for topic in topics:
            producer.partitions_for(topic)


def partitions_of(consumer: KafkaConsumer, topic: str) -> list[TopicPartition]:
    """All partitions of a topic. Raises KafkaError if the broker does not know it: a consumer of none reads nothing."""
    found = [TopicPartition(topic, each.partition) for each in consumer.partitions_for(topic)]
    if not found:
        raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f"There is no topic {topic}.")
    return found


def run_until_ctrl_c(streams: KafkaStreams, ready: str) -> int:
    """Start an application and print a line; returns 0 after Ctrl-C, 1 if a stream thread dies."""
    died = threading.Event()

    def on_error(_thread: threading.Thread, error: Exception) -> None:
        print(f"a stream thread has died: {error}", file=sys.stderr)
        died.set()

    streams.set_uncaught_exception_handler(on_error)
    streams.start()
    print(ready, flush=True)
    try:
        while not died.wait(1):
            pass  # a main thread that waits for longer may not notice Ctrl-C
    except KeyboardInterrupt:
        return 0
    return 1
