"""Asks brokers for the ends of partitions.

Kafka 0.10.2: core/.../tools/GetOffsetShell.scala · book 3.4.2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from kafka_lite.common.topic_partition import TopicPartition

_TIMEOUT_S = 30.0


class TopicEnds:
    """A client that asks for the end offset of any partition, and waits ``timeout_s`` for a response. Not thread-safe.

    A context manager that closes the connections.
    """

    def __init__(self, bootstrap_servers: str, timeout_s: float = _TIMEOUT_S) -> None:
        from confluent_kafka import Consumer

        self._timeout_s = timeout_s

        # The client wants a group, although it never joins it.
        self._client: Any = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "kafka_lite-pipeline"})

    def existing(self, topics: Iterable[str]) -> set[str]:
        """The topics that exist. Raises ``KafkaException`` if no broker responds."""
        existing = self._client.list_topics(timeout=self._timeout_s).topics
        return {topic for topic in topics if topic in existing}

    def ends(self, partitions: Mapping[str, int]) -> dict[TopicPartition, int]:
        """The end offsets of all partitions, given the number of partitions of each topic. Raises KafkaException."""
        addresses = [TopicPartition(topic, number) for topic, count in partitions.items() for number in range(count)]
        return {address: self._end(address) for address in addresses}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _end(self, address: TopicPartition) -> int:
        from confluent_kafka import TopicPartition as ClientsTopicPartition

        partition = ClientsTopicPartition(address.topic, address.partition)
        _, end = self._client.get_watermark_offsets(partition, timeout=self._timeout_s)
        return int(end)
