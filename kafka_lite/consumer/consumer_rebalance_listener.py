"""The user's callbacks for partitions that are assigned and revoked.

Kafka 0.10.2: clients/.../consumer/ConsumerRebalanceListener.java · book 5.1.4
"""

from __future__ import annotations

from collections.abc import Collection

from kafka_lite.common.topic_partition import TopicPartition


class ConsumerRebalanceListener:
    """Override what you need. Called from within ``poll`` and ``close``, in the thread that called them.

    Callbacks may use the consumer: to commit in ``on_partitions_revoked``, to seek in ``on_partitions_assigned``. A
    partition is given up before another member gets it: the rebalance waits for the slowest ``on_partitions_revoked``.

    Eager members (all assignors but ``cooperative-sticky``) always get their complete assignment. Cooperative members
    get the revoked partitions, if there are any, and then the added ones, which may be none.
    """

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        """These partitions are about to be given up. This is the last occasion to commit what was read of them."""

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        """These partitions were assigned. This is the first occasion to seek."""

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        """These partitions belong to other members already: this one was removed from the group. By default, as
        revoked."""
        self.on_partitions_revoked(partitions)


NO_LISTENER = ConsumerRebalanceListener()
"""A listener that does nothing."""
