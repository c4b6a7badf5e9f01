"""Which partition a record goes to.

Kafka 0.10.2: clients/.../producer/Partitioner.java, internals/DefaultPartitioner.java · book 2.1.1
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
    """Chooses a partition for a record that names none."""

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027 - most need none
        """Called once with the producer's configuration."""

    @abstractmethod
    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:
        """The number of a partition of the record's topic, which ``cluster`` knows; ``key`` is the serialized one."""

    def on_new_batch(self, topic: str, cluster: Cluster, previous_partition: int) -> bool:  # noqa: ARG002
        """A batch has to be begun in the partition that was chosen: the moment to go on to another one (KIP-480).

        Returns whether ``partition`` shall be asked once more. To ask in any case would let those that take turns leave
        out every other partition (Kafka's did: KAFKA-9965).
        """
        return False

    def close(self) -> None:  # noqa: B027 - most need none
        """Called once, when the producer closes."""


class DefaultPartitioner(Partitioner):
    """By the hash of the key; records without one stick to a partition until its batch is full (KIP-480).

    Every record of a batch costs the broker less than a batch of its own. 0.10.2 sent records without keys round-robin,
    which filled all batches slowly: see :class:`RoundRobinPartitioner`.
    """

    def __init__(self, random_source: random.Random | None = None) -> None:
        self._random = random_source or random.Random()
        self._sticky: dict[str, int] = {}

    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:
        """Key or no key."""
        if key is not None:
            return partition_for_key(key, len(cluster.partitions_for_topic(record.topic)))
        sticky = self._sticky.get(record.topic)
        return sticky if sticky is not None else self._choose(record.topic, cluster, None)

    def on_new_batch(self, topic: str, cluster: Cluster, previous_partition: int) -> bool:
        """Leave the partition whose batch is full, or gone, unless another thread has done so."""
        if self._sticky.get(topic) in (None, previous_partition):
            self._choose(topic, cluster, previous_partition)
        return True

    def _choose(self, topic: str, cluster: Cluster, previous: int | None) -> int:
        """Another partition, one with a leader if there is any."""
        infos = cluster.available_partitions_for_topic(topic) or cluster.partitions_for_topic(topic)
        others = [info.partition for info in infos if info.partition != previous]
        chosen = self._random.choice(others) if others else infos[0].partition
        self._sticky[topic] = chosen
        return chosen


class UniformStickyPartitioner(DefaultPartitioner):
    """Sticks to a partition whether there is a key or not."""

    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:  # noqa: ARG002
        """As without a key."""
        return super().partition(record, None, cluster)


class RoundRobinPartitioner(Partitioner):
    """One partition after the other, those with a leader only, keys or not: 0.10.2's way for records without keys."""

    def __init__(self) -> None:
        self._counters: dict[str, itertools.count[int]] = {}

    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:  # noqa: ARG002
        """The next one."""
        # next() of a count is one step for other threads; a count made twice at the beginning does no harm.
        number = next(self._counters.setdefault(record.topic, itertools.count(random.randrange(1 << 16))))
        available = cluster.available_partitions_for_topic(record.topic)
        infos = available or cluster.partitions_for_topic(record.topic)
        return infos[number % len(infos)].partition


class CheckedPartitioner(Partitioner):
    """A partitioner of the user's, whose choice may be anything.

    Nothing would ever be sent to a partition that there is not; only ``delivery.timeout.ms`` would end what lies there.
    """

    def __init__(self, partitioner: Partitioner) -> None:
        self._partitioner = partitioner

    def configure(self, configs: Mapping[str, object]) -> None:
        """See there."""
        self._partitioner.configure(configs)

    def partition(self, record: ProducerRecord, key: bytes | None, cluster: Cluster) -> int:
        """Its choice. Raises ValueError when that is no partition of the topic."""
        chosen = self._partitioner.partition(record, key, cluster)
        count = cluster.partition_count_for_topic(record.topic) or 0
        if type(chosen) is not int or not 0 <= chosen < count:
            raise ValueError(
                f"{type(self._partitioner).__name__} chose partition {chosen!r} for topic {record.topic}, "
                f"whose partitions are 0 to {count - 1}"
            )
        return chosen

    def on_new_batch(self, topic: str, cluster: Cluster, previous_partition: int) -> bool:
        """Its answer."""
        return self._partitioner.on_new_batch(topic, cluster, previous_partition)

    def close(self) -> None:
        """See there."""
        self._partitioner.close()


def checked(partitioner: Partitioner) -> Partitioner:
    """The partitioner, or one that checks it: those of this module are trusted, for they see every record."""
    return partitioner if type(partitioner).__module__ == __name__ else CheckedPartitioner(partitioner)


def partition_for_key(key: bytes, number_of_partitions: int) -> int:
    """Where the records of a key are, as Java's, and every other, client has it."""
    return to_positive(murmur2(key)) % number_of_partitions
