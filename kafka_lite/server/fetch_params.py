"""What a fetch request says of all of its partitions together.

Kafka 0.10.2: the parameters of core/.../server/ReplicaManager.scala's fetchMessages; since 3.2 FetchParams · book 6.2.1
"""

from __future__ import annotations


class FetchParams:
    """The part of a fetch request that concerns all of its partitions."""

    __slots__ = ("from_follower", "hard_max_bytes", "max_bytes", "max_wait_ms", "min_bytes", "replica_id")

    def __init__(self, replica_id: int, max_wait_ms: int, min_bytes: int, max_bytes: int, hard_max_bytes: bool) -> None:
        self.replica_id = replica_id
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.hard_max_bytes = hard_max_bytes
        """Fetch up to version 2 cuts the records at the limit, in the middle of the first message if need be."""
        self.from_follower = replica_id >= 0
        """Whether another broker asks (consumers send -1)."""
