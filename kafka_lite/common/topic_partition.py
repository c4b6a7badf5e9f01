"""A topic and a partition number, the address of everything in Kafka.

Kafka 0.10.2: clients/.../common/TopicPartition.java · book 1.2.1
"""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """The key of every map of partitions; prints as Kafka's log directories are named: ``topic-0``."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
