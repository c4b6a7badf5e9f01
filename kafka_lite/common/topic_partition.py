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


MAX_NAME_LENGTH = 249
"""Of a topic: a log directory is called ``topic-partition``, and file names end at 255 characters."""

MAX_KEPT = 10_000
_kept: dict[tuple[str, int], TopicPartition] = {}


def known_topic_partition(topic: str, partition: int) -> TopicPartition:
    """``TopicPartition(topic, partition)`` for a third of the time, once it has been asked for.

    For the requests that name the same partitions again and again. When many have been asked for, all are forgotten;
    and a name that no topic can have is not kept, for a request may have one of 32 KB.
    """
    kept = _kept.get((topic, partition))
    if kept is None:
        kept = TopicPartition(topic, partition)
        if len(topic) <= MAX_NAME_LENGTH:
            if len(_kept) >= MAX_KEPT:
                _kept.clear()
            _kept[topic, partition] = kept
    return kept
