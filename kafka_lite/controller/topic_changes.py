"""The controller's reaction to topics that are created, extended or marked for deletion.

Kafka 0.10.2: core/.../controller/KafkaController.scala (onNewTopicCreation, onNewPartitionCreation)
· book 7.1.3, 7.1.4, 7.1.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace

from kafka_lite.common.ids.uuids import random_uuid
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import ControllerContext
from kafka_lite.controller.partition_state_machine import PartitionState, PartitionStateMachine
from kafka_lite.controller.replica_state_machine import ReplicaState, ReplicaStateMachine
from kafka_lite.controller.topic_deletion_manager import TopicDeletionManager
from kafka_lite.zookeeper.data import TopicAssignment
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import NoNodeError

logger = logging.getLogger(__name__)


class TopicChanges:
    """Takes the partitions and replicas of new topics through their states, and queues topics for deletion.

    Used by the controller's event thread only.
    """

    def __init__(
        self,
        context: ControllerContext,
        zk_client: KafkaZkClient,
        partitions: PartitionStateMachine,
        replicas: ReplicaStateMachine,
        deletion: TopicDeletionManager,
        watch_topic: Callable[[str], None],
        uses_topic_ids: bool = False,
    ) -> None:
        """``watch_topic`` watches the assignment of a new topic.

        ``uses_topic_ids``: a topic without an id gets one.
        """
        self._context = context
        self._zk_client = zk_client
        self._partition_machine = partitions
        self._replica_machine = replicas
        self._deletion = deletion
        self._watch_topic = watch_topic
        self._uses_topic_ids = uses_topic_ids

    def read_topics(self, topics: Iterable[str]) -> dict[str, TopicAssignment]:
        """Read the znodes of topics, and write ids to those that have none."""
        found = self._zk_client.get_topic_assignments(topics)
        if not self._uses_topic_ids:
            return found
        return {
            topic: assignment if assignment.topic_id is not None else self._with_topic_id(topic, assignment)
            for topic, assignment in found.items()
        }

    def _with_topic_id(self, topic: str, found: TopicAssignment) -> TopicAssignment:
        """A topic of an older Kafka, or one that an older tool has created, becomes one with an id."""

        def identify(current: TopicAssignment) -> TopicAssignment:
            nonlocal found
            found = current if current.topic_id is not None else replace(current, topic_id=random_uuid())
            return found

        with suppress(NoNodeError):  # deleted in the meantime
            self._zk_client.change_topic_assignment(topic, identify)
        return found

    def process_topic_change(self) -> None:
        """Topics were created or deleted."""
        current = set(self._zk_client.get_all_topics())
        added, removed = sorted(current - self._context.all_topics), sorted(self._context.all_topics - current)
        for topic in removed:
            self._context.remove_topic(topic)
        self._context.all_topics = current
        partitions = self._context.add_topics(self.read_topics(added))
        if added or removed:
            logger.info("New topics: %s, deleted topics: %s", added, removed)
        for topic in added:
            self._watch_topic(topic)
        self.on_new_partition_creation(partitions)

    def process_partition_modifications(self, topic: str) -> None:
        """A topic's assignment has changed; it may have new partitions."""
        assignment = self._zk_client.get_replica_assignment([topic])
        new = {p: replicas for p, replicas in assignment.items() if p not in self._context.partition_replica_assignment}
        if not new:
            return
        if self._deletion.is_topic_queued_up_for_deletion(topic):
            logger.error("Skipping new partitions %s: topic %s is being deleted", sorted(new), topic)
            return
        logger.info("New partitions to be added: %s", {str(p): replicas for p, replicas in new.items()})
        self._context.add_assignment(new)
        self.on_new_partition_creation(new.keys())

    def on_new_partition_creation(self, partitions: Collection[TopicPartition]) -> None:
        """Take new partitions and their replicas through their states."""
        replicas = self._context.replicas_of(partitions)
        self._partition_machine.handle_state_changes(partitions, PartitionState.NEW)
        self._replica_machine.handle_state_changes(replicas, ReplicaState.NEW)
        self._partition_machine.handle_state_changes(partitions, PartitionState.ONLINE)
        self._replica_machine.handle_state_changes(replicas, ReplicaState.ONLINE)

    def process_topic_deletion(self) -> None:
        """Topics have been marked for deletion; a mark without a topic is removed."""
        marked = set(self._zk_client.get_topics_marked_for_deletion())
        unknown = marked - self._context.all_topics
        # The topic may have been created and marked before TopicChange had its turn.
        unknown = {topic for topic in unknown if not self._zk_client.topic_exists(topic)}
        for topic in sorted(unknown):
            logger.warning("Ignoring the deletion of topic %s: there is no such topic", topic)
            self._zk_client.delete_delete_topic(topic)
        if marked - unknown - self._context.all_topics:
            self.process_topic_change()
        is_queued = self._deletion.is_topic_queued_up_for_deletion
        new = [topic for topic in sorted(marked - unknown) if not is_queued(topic)]
        if new:
            logger.info("Topics marked for deletion: %s", new)
            self._deletion.enqueue_topics_for_deletion(new)
