"""A topic and a partition number, the address of everything in Kafka.

Kafka 0.10.2: clients/.../common/TopicPartition.java · book 1.2.1
"""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """The key of all maps of partitions. Its ``str`` is the name of the log directory: ``topic-0``."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


MAX_NAME_LENGTH = 249
"""Of a topic: a log directory is named ``topic-partition``, and file names are limited to 255 characters."""

MAX_KEPT = 10_000
_kept: dict[tuple[str, int], TopicPartition] = {}


def known_topic_partition(topic: str, partition: int) -> TopicPartition:
    """Return ``TopicPartition(topic, partition)`` from a cache, in a third of the time.

    For requests that name the same partitions again and again. The cache is cleared if it grows too large, and a name
    too long for a topic is not cached: a request may contain one of 32 KB.
    """
    kept = _kept.get((topic, partition))
    if kept is None:
        kept = TopicPartition(topic, partition)
        if len(topic) <= MAX_NAME_LENGTH:
            if len(_kept) >= MAX_KEPT:
                _kept.clear()
            _kept[topic, partition] = kept
    return kept
