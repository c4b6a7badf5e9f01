"""Chooses the partition of a record.

Kafka 0.10.2: clients/.../producer/Partitioner.java, internals/DefaultPartitioner.java · book 2.1.1, 1.2.1
"""

from __future__ import annotations

import itertools
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping

from kafka_lite.clients.cluster import Cluster
from kafka_lite.common.murmur2 import murmur2, to_positive
from kafka_lite.producer.producer_record import ProducerRecord


class Partitioner(ABC):
    """Chooses a partition for a record that does not specify one."""

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027 - most need none
        """Called once with the producer's configuration."""

    @abstractmethod
    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:
        """A partition number of the record's topic, which ``cluster`` contains. ``key`` is the serialized key."""

    def on_new_batch(self, topic: str, cluster: Cluster, previous_partition: int) -> bool:  # noqa: ARG002
        """A new batch must be started in the chosen partition: the moment to switch to another one (KIP-480).

        Returns whether ``partition`` is to be called again. If it were called in any case, round-robin would skip every
        other partition (as Kafka's did: KAFKA-9965).
        """
        return False

    def close(self) -> None:  # noqa: B027 - most need none
        """Called once, when the producer closes."""


class DefaultPartitioner(Partitioner):
    """By the hash of the key. Records without a key stick to a partition until its batch is full (KIP-480).

    One full batch costs the broker less than many small ones. 0.10.2 sends records without keys round-robin, which
    fills all batches slowly: see :class:`RoundRobinPartitioner`.
    """

    def __init__(self, random_source: random.Random | None = None) -> None:
        self._random = random_source or random.Random()
        self._sticky: dict[str, int] = {}

    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:
        """By the key, or the sticky partition."""
        if key is not None:
            return partition_for_key(key, len(cluster.partitions_for_topic(record.topic)))
        sticky = self._sticky.get(record.topic)
        return sticky if sticky is not None else self._choose(record.topic, cluster, None)

    def on_new_batch(self, topic: str, cluster: Cluster, previous_partition: int) -> bool:
        """Leave the partition whose batch is full, unless another thread has done so already."""
        if self._sticky.get(topic) in (None, previous_partition):
            self._choose(topic, cluster, previous_partition)
        return True

    def _choose(self, topic: str, cluster: Cluster, previous: int | None) -> int:
        """Choose another partition at random, one with a leader if there is any; the same if no other is left."""
        infos = cluster.available_partitions_for_topic(topic) or cluster.partitions_for_topic(topic)
        others = [info.partition for info in infos if info.partition != previous]
        chosen = self._random.choice(others) if others else infos[0].partition
        self._sticky[topic] = chosen
        return chosen


class UniformStickyPartitioner(DefaultPartitioner):
    """Sticks to a partition even for records with keys."""

    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:  # noqa: ARG002
        """The sticky partition."""
        return super().partition(record, None, cluster)


class RoundRobinPartitioner(Partitioner):
    """Takes the partitions with a leader in turn, with or without keys; 0.10.2 does so for records without keys."""

    def __init__(self) -> None:
        self._counters: dict[str, itertools.count[int]] = {}

    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:  # noqa: ARG002
        """The next partition of the topic in turn, of those with a leader; of all, if none has one."""
        # next() of a count is atomic, and a count that two threads create at the start does no harm.
        number = next(self._counters.setdefault(record.topic, itertools.count(random.randrange(1 << 16))))
        available = cluster.available_partitions_for_topic(record.topic)
        infos = available or cluster.partitions_for_topic(record.topic)
        return infos[number % len(infos)].partition


class CheckedPartitioner(Partitioner):
    """Checks the choices of a user's partitioner.

    Records for a nonexistent partition would never be sent, and would only expire after ``delivery.timeout.ms``.
    """

    def __init__(self, partitioner: Partitioner) -> None:
        self._partitioner = partitioner

    def configure(self, configs: Mapping[str, object]) -> None:
        """Configure the user's partitioner."""
        self._partitioner.configure(configs)

    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:
        """The user's choice. Raises ValueError if it is no partition of the topic."""
        chosen = self._partitioner.partition(record, key, cluster)
        count = cluster.partition_count_for_topic(record.topic) or 0
        if type(chosen) is not int or not 0 <= chosen < count:
            raise ValueError(
                f"{type(self._partitioner).__name__} chose partition {chosen!r} for topic {record.topic}, "
                f"whose partitions are 0 to {count - 1}"
            )
        return chosen

    def on_new_batch(self, topic: str, cluster: Cluster, previous_partition: int) -> bool:
        """The user's decision."""
        return self._partitioner.on_new_batch(topic, cluster, previous_partition)

    def close(self) -> None:
        """Close the user's partitioner."""
        self._partitioner.close()


def checked(partitioner: Partitioner) -> Partitioner:
    """The partitioner, checked unless it is one of this module: those are trusted, since they handle every record."""
    return partitioner if type(partitioner).__module__ == __name__ else CheckedPartitioner(partitioner)


def partition_for_key(key: bytes, number_of_partitions: int) -> int:
    """The partition of a key, the same as with Java and most other clients."""
    return 0 if number_of_partitions == 1 else to_positive(murmur2(key)) % number_of_partitions
