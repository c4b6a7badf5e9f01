"""Code of the user's that hears of partitions that come and go.

Kafka 0.10.2: clients/.../consumer/ConsumerRebalanceListener.java · book 5.1.4
"""

from __future__ import annotations

from collections.abc import Collection

from kafka_lite.common.topic_partition import TopicPartition


class ConsumerRebalanceListener:
    """Override what is needed. Called from within ``poll`` (and ``close``), in the thread that called it.

    Both may use the consumer: to commit in the first, to seek in the second. A partition is given up before anybody
    else gets it: the group is rebalanced when the slowest ``on_partitions_revoked`` has returned.

    Eager members (all but those with ``cooperative-sticky``) are told of all their partitions, each time. Cooperative
    ones are told of those that go, if any go, and then of those that come, which may be none.
    """

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        """These go, and are still this consumer's: the last occasion to commit what was read of them."""

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        """These have come: the first occasion to seek."""

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        """These are others' already, for this member was thrown out of the group. Unless overridden: as if revoked."""
        self.on_partitions_revoked(partitions)


NO_LISTENER = ConsumerRebalanceListener()
"""Hears, and does nothing."""
