"""Chooses the partition of an output record by its key and value, before they are serialized.

Kafka 0.10.2: streams/.../processor/StreamPartitioner.java · book 9.1.2
"""

from __future__ import annotations

from typing import Protocol, TypeVar

K = TypeVar("K", contravariant=True)
V = TypeVar("V", contravariant=True)


class StreamPartitioner(Protocol[K, V]):
    """A function from key, value and the number of partitions to a partition; None leaves it to the producer."""

    def __call__(self, key: K, value: V, num_partitions: int, /) -> int | None:
        """A number from 0 to ``num_partitions - 1``, or None."""
        ...
