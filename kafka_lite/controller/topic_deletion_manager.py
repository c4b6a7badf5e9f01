"""Deletes topics: from the brokers' disks first, from ZooKeeper last.

Kafka 0.10.2: core/.../controller/TopicDeletionManager.scala · book 7.1.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import StopReplicaCallback
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.controller.partition_state_machine import PartitionState, PartitionStateMachine
from kafka_lite.controller.replica_state_machine import VALID_PREVIOUS_STATES, ReplicaState, ReplicaStateMachine
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaResponse
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)


class TopicDeletionManager:
    """The queue of topics to delete, and how far each has come.

    ::

        /admin/delete_topics/T ─▶ to be deleted ─▶ brokers forget the topic (UpdateMetadata, leader -2)
                                     ▲                │
              a broker is back ──────┘                ▼
                                     │     live replicas: OFFLINE ─▶ DELETION_STARTED ─┬─▶ DELETION_SUCCESSFUL ─┐
                                ineligible ◀── a broker is dead, or there is an error ◀┘                  all ──┤
                                                                                                                ▼
                                      znodes deleted, in this order: /brokers/topics/T, /config/topics/T, the mark

    Used by the controller's event thread only.
    """

    def __init__(
        self,
        context: ControllerContext,
        zk_client: KafkaZkClient,
        send_update_metadata: Callable[[Collection[TopicPartition]], None],
        on_stop_replica_response: StopReplicaCallback,
        *,
        on_deleted: Callable[[str], None],
        enabled: bool,
    ) -> None:
        """``on_stop_replica_response`` is called in a channel's thread and must bring the response back as an event.

        ``on_deleted`` is called for every topic that is completely gone.
        """
        self._context = context
        self._zk_client = zk_client
        self._send_update_metadata = send_update_metadata
        self._on_stop_replica_response = on_stop_replica_response
        self._on_deleted = on_deleted
        self.enabled = enabled
        self._topics: set[str] = set()
        self._ineligible: set[str] = set()
        self._partitions: set[TopicPartition] = set()

    def attach(self, partitions: PartitionStateMachine, replicas: ReplicaStateMachine) -> None:
        """Set the state machines. They are made after this object, because they ask it what is to be deleted."""
        self._partition_machine = partitions
        self._replica_machine = replicas

    # ----------------------------------------------------------------------------------------------------------- life

    def init(self, topics: Collection[str]) -> None:
        """Begin with the topics that were marked when this controller took over. Those with a dead replica wait."""
        if not self.enabled:
            self._refuse(topics)
            return
        self._enqueue(topics)
        live = self._context.live_broker_ids
        self._ineligible = {
            t for t in topics if any(r.replica not in live for r in self._context.replicas_for_topic(t))
        }

    def shutdown(self) -> None:
        """Forget the queue; the next controller reads it from ZooKeeper."""
        self._topics.clear()
        self._ineligible.clear()
        self._partitions.clear()

    def _refuse(self, topics: Iterable[str]) -> None:
        for topic in topics:
            logger.info("Not deleting topic %s: delete.topic.enable is false", topic)
            self._zk_client.delete_delete_topic(topic)

    def _enqueue(self, topics: Iterable[str]) -> None:
        for topic in topics:
            self._topics.add(topic)
            self._partitions |= self._context.partitions_for_topic(topic)

    # ------------------------------------------------------------------------------------------------------ questions

    @property
    def partitions_to_be_deleted(self) -> set[TopicPartition]:
        """All partitions of all topics in the queue."""
        return self._partitions

    def is_topic_queued_up_for_deletion(self, topic: str) -> bool:
        """Whether the topic is to be deleted; its partitions are no longer brought online."""
        return topic in self._topics

    def _is_deletion_in_progress(self, topic: str) -> bool:
        return self._replica_machine.is_any_replica_in_state(topic, ReplicaState.DELETION_STARTED)

    def _is_eligible(self, topic: str) -> bool:
        """Kafka marks a topic as ineligible while it is being reassigned; here the context says so."""
        return (
            topic in self._topics
            and topic not in self._ineligible
            and not self._context.is_being_reassigned(topic)
            and not self._is_deletion_in_progress(topic)
        )

    # --------------------------------------------------------------------------------------------------------- events

    def enqueue_topics_for_deletion(self, topics: Collection[str]) -> None:
        """Marks have appeared in ZooKeeper."""
        if not self.enabled:
            self._refuse(topics)
            return
        self._enqueue(topics)
        self.resume_deletions()

    def resume_deletion_for_topics(self, topics: Iterable[str]) -> None:
        """The obstacle to deleting these topics (a dead broker) is gone."""
        resumed = set(topics) & self._topics
        if resumed:
            self._ineligible -= resumed
            self.resume_deletions()

    def stop_replica_responded(self, replicas: Collection[PartitionAndReplica], response: StopReplicaResponse) -> None:
        """A broker has deleted replicas, or failed to: each replica has its own error, unless all have the same.

        A response that is late, to a replica that is no longer DELETION_STARTED, changes nothing.
        """
        codes = {TopicPartition(e.topic_name, e.partition_index): e.error_code for e in response.partition_errors}
        failed = set()
        for replica in replicas:
            error = Errors.for_code(response.error_code or codes.get(replica.partition, Errors.NONE.code))
            if error is not Errors.NONE:
                logger.warning("Deletion of %s failed: %s", replica, error.name)
                failed.add(replica)
        self.fail_replica_deletion(failed)
        machine = self._replica_machine
        gone = [r for r in replicas if r not in failed and machine.state(r) is ReplicaState.DELETION_STARTED]
        machine.handle_state_changes(gone, ReplicaState.DELETION_SUCCESSFUL)
        for topic in sorted({replica.partition.topic for replica in gone}):
            self._resume(topic)

    def fail_replica_deletion(self, replicas: Collection[PartitionAndReplica]) -> None:
        """These replicas cannot be deleted now, so their topics wait."""
        failed = [replica for replica in replicas if replica.partition.topic in self._topics]
        if not failed:
            return
        self._ineligible |= {replica.partition.topic for replica in failed}
        machine = self._replica_machine
        running = [r for r in failed if machine.state(r) in (ReplicaState.NEW, ReplicaState.ONLINE)]
        machine.handle_state_changes(running, ReplicaState.OFFLINE)
        previous = VALID_PREVIOUS_STATES[ReplicaState.DELETION_INELIGIBLE]
        machine.handle_state_changes(
            [r for r in failed if machine.state(r) in previous], ReplicaState.DELETION_INELIGIBLE
        )

    # ------------------------------------------------------------------------------------------------------- deletion

    def resume_deletions(self) -> None:
        """Take the deletion of every topic in the queue as far as it can go now."""
        for topic in sorted(self._topics):
            self._resume(topic)

    def _resume(self, topic: str) -> None:
        """Complete the deletion of a topic whose replicas are all gone; start that of one that is eligible.

        Before it starts, all its replicas that failed go back to OFFLINE (``_retry_ineligible_replicas``).
        """
        if self._replica_machine.are_all_replicas_in_state(topic, ReplicaState.DELETION_SUCCESSFUL):
            self._complete_delete_topic(topic)
        elif self._is_eligible(topic):
            self._retry_ineligible_replicas(topic)
            self._start_deletion(topic)

    def _retry_ineligible_replicas(self, topic: str) -> None:
        failed = self._replica_machine.replicas_in_state(topic, ReplicaState.DELETION_INELIGIBLE)
        self._replica_machine.handle_state_changes(failed, ReplicaState.OFFLINE)

    def _start_deletion(self, topic: str) -> None:
        """Let the brokers forget the topic, then stop and delete what is left on live brokers; dead ones fail."""
        logger.info("Starting the deletion of topic %s", topic)
        self._send_update_metadata(self._context.partitions_for_topic(topic))
        replicas = self._context.replicas_for_topic(topic)
        done = self._replica_machine.replicas_in_state(topic, ReplicaState.DELETION_SUCCESSFUL)
        live = self._context.live_broker_ids
        dead = {replica for replica in replicas if replica.replica not in live}
        to_delete = replicas - dead - done
        self._replica_machine.handle_state_changes(to_delete, ReplicaState.OFFLINE)
        self._replica_machine.handle_state_changes(
            to_delete, ReplicaState.DELETION_STARTED, self._on_stop_replica_response
        )
        if dead:
            logger.info("Deletion of topic %s waits for the dead replicas %s", topic, sorted(map(str, dead)))
            self.fail_replica_deletion(dead)

    def _complete_delete_topic(self, topic: str) -> None:
        """All replicas are gone: stop watching the topic, and remove it everywhere.

        From the state machines, ``_partitions``, the context and ZooKeeper, and only then from the queue.
        """
        partitions = self._context.partitions_for_topic(topic)
        self._zk_client.unwatch_topic(topic)
        self._replica_machine.handle_state_changes(
            self._replica_machine.replicas_in_state(topic, ReplicaState.DELETION_SUCCESSFUL), ReplicaState.NON_EXISTENT
        )
        self._partition_machine.handle_state_changes(partitions, PartitionState.OFFLINE)
        self._partition_machine.handle_state_changes(partitions, PartitionState.NON_EXISTENT)
        self._partitions = {partition for partition in self._partitions if partition.topic != topic}
        self._context.remove_topic(topic)
        self._zk_client.delete_topic_znode(topic)
        self._zk_client.delete_entity_config(f"topics/{topic}")
        self._zk_client.delete_delete_topic(topic)
        self._topics.discard(topic)  # last: the topic must not count as gone before it is
        logger.info("Deletion of topic %s successfully completed", topic)
        self._on_deleted(topic)
