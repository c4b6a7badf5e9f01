"""A partitioner of the old producer for tests that choose the partition."""

from __future__ import annotations

from typing import Any

from kafka_lite.old_producer.partitioner import Partitioner


class ByNumber(Partitioner):
    """The key is the partition's number."""

    def partition(self, key: Any, number_of_partitions: int) -> int:
        return int(key) % number_of_partitions
