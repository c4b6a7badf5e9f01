"""Flush and commit before partitions are given up, then call the user's listener.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (InternalRebalanceListenerForNewConsumer,
InternalRebalanceListenerForOldConsumer) · book 8.1.2
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_rebalance_listener import NO_LISTENER, ConsumerRebalanceListener
from kafka_lite.mirror.maker.mirror_maker_commits import Commits, MirrorMakerCommits
from kafka_lite.old_consumer.consumer_connector import ConsumerRebalanceListener as OldConsumerRebalanceListener
from kafka_lite.old_consumer.topic_count import ConsumerThreadId


class NewConsumer(Commits, Protocol):
    """The part of MirrorMakerNewConsumer that a rebalance needs."""

    def forget(self, partitions: Collection[TopicPartition]) -> None:
        """Commit nothing more of these partitions."""
        ...


class InternalRebalanceListenerForNewConsumer(ConsumerRebalanceListener):
    """Called from within ``poll``, in the mirror's own thread: all that was received has been sent by then."""

    def __init__(
        self, consumer: NewConsumer, commits: MirrorMakerCommits, custom: ConsumerRebalanceListener = NO_LISTENER
    ) -> None:
        self._consumer = consumer
        self._commits = commits
        self._custom = custom

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        """Commit while the partitions are still this member's.

        If that fails, the next owner copies the records again. This member must not commit them later, because the new
        owner's offsets are larger by then. (Kafka keeps them for the next commit.)
        """
        self._commits.flush_and_commit(self._consumer)
        self._consumer.forget(partitions)
        self._custom.on_partitions_revoked(partitions)

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        """Tell the user's listener."""
        self._custom.on_partitions_assigned(partitions)

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        """They belong to others already, so that a commit would be refused."""
        self._consumer.forget(partitions)
        self._custom.on_partitions_lost(partitions)


class OldConsumer(Protocol):
    """The part of MirrorMakerOldConsumer that a rebalance needs."""

    def request_and_wait_for_commit(self) -> None:
        """Wait until the mirror's thread has flushed and committed."""
        ...


class InternalRebalanceListenerForOldConsumer:
    """Called in the rebalancing thread, which therefore has to wait for the mirror's."""

    def __init__(self, consumer: OldConsumer, custom: OldConsumerRebalanceListener | None = None) -> None:
        self._consumer = consumer
        self._custom = custom

    def before_releasing_partitions(self, partition_ownership: Mapping[str, set[int]]) -> None:
        """Wait for the commit, then tell the user's listener."""
        self._consumer.request_and_wait_for_commit()
        if self._custom is not None:
            self._custom.before_releasing_partitions(partition_ownership)

    def before_starting_fetchers(
        self, consumer_id: str, partition_assignment: Mapping[str, Mapping[int, ConsumerThreadId]]
    ) -> None:
        """Tell the user's listener."""
        if self._custom is not None:
            self._custom.before_starting_fetchers(consumer_id, partition_assignment)
