"""The controller's reaction to brokers that join, fail, lose a disk or are about to stop.

Kafka 0.10.2: core/.../controller/ReplicaStateMachine.scala (BrokerChangeListener), KafkaController.scala
(onBrokerStartup, onBrokerFailure, shutdownBroker)
· book 7.1.3, 7.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping

from kafka_lite.cluster.broker import Broker
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import ControllerBrokerRequestBatch
from kafka_lite.controller.controller_channel_manager import ControllerChannelManager
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.controller.partition_reassigner import PartitionReassigner
from kafka_lite.controller.partition_state_machine import PartitionState, PartitionStateMachine
from kafka_lite.controller.replica_state_machine import ReplicaState, ReplicaStateMachine
from kafka_lite.controller.topic_deletion_manager import TopicDeletionManager
from kafka_lite.zookeeper.data import BrokerRegistration
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.znode_json import ZnodeDataError

logger = logging.getLogger(__name__)

UnsupportedFeatures = Callable[[BrokerRegistration], Mapping[str, int]]
"""Gives the finalized features that a broker does not support."""


class BrokerChanges:
    """Takes the partitions and replicas of brokers through their states. Used by the controller's event thread only."""

    def __init__(
        self,
        context: ControllerContext,
        zk_client: KafkaZkClient,
        channels: ControllerChannelManager,
        partitions: PartitionStateMachine,
        replicas: ReplicaStateMachine,
        deletion: TopicDeletionManager,
        reassigner: PartitionReassigner,
        batch: ControllerBrokerRequestBatch,
        send_update_metadata: Callable[[Collection[TopicPartition] | None], None],
        unsupported_features: UnsupportedFeatures = lambda _registration: {},
    ) -> None:
        self._context = context
        self._zk_client = zk_client
        self._channels = channels
        self._partition_machine = partitions
        self._replica_machine = replicas
        self._deletion = deletion
        self._reassigner = reassigner
        self._batch = batch
        self._send_update_metadata = send_update_metadata
        self._unsupported_features = unsupported_features

    def read_brokers(self) -> tuple[dict[int, Broker], dict[int, int]]:
        """The live brokers and their epochs, by id, without those that cannot work with the finalized features."""
        brokers, epochs = {}, {}
        for broker_id, (registration, epoch) in self._zk_client.get_brokers_and_epochs().items():
            try:
                if unsupported := self._unsupported_features(registration):
                    raise ZnodeDataError(f"it does not support the finalized features {unsupported}")
                brokers[broker_id] = Broker.from_registration(broker_id, registration)
                epochs[broker_id] = epoch
            except ZnodeDataError as error:
                logger.error("Ignoring broker %d: %s", broker_id, error)
        return brokers, epochs

    def process_broker_change(self) -> None:
        """Brokers have started or stopped.

        A broker with a new epoch has done both. It counts as stopped first, and then as started, so that it gets all of
        its requests again (as since Kafka 2.2, KIP-380).
        """
        current, epochs = self.read_brokers()
        before, self._context.broker_epochs = self._context.broker_epochs, epochs
        bounced = {broker_id for broker_id in current if before.get(broker_id, epochs[broker_id]) != epochs[broker_id]}
        if bounced:
            logger.info("Bounced brokers: %s", sorted(bounced))
            self._update_live_brokers({i: broker for i, broker in current.items() if i not in bounced})
        self._update_live_brokers(current)

    def _update_live_brokers(self, current: dict[int, Broker]) -> None:
        added = current.keys() - self._context.live_brokers.keys()
        removed = self._context.live_brokers.keys() - current.keys()
        self._context.live_brokers = current
        logger.info("Newly added brokers: %s, deleted brokers: %s, all live: %s", added, removed, sorted(current))
        for broker_id in added:
            self._channels.add_broker(broker_id)
        for broker_id in removed:
            self._channels.remove_broker(broker_id)
        if added:
            self.on_broker_startup(added)
        if removed:
            self.on_broker_failure(removed)

    def on_broker_startup(self, broker_ids: Collection[int]) -> None:
        """Tell the new brokers everything, start their replicas, and elect leaders for partitions that waited."""
        self._forget_offline_dirs(broker_ids)
        self._send_update_metadata(None)
        replicas = self._context.replicas_on_brokers(broker_ids)
        is_deleted = self._deletion.is_topic_queued_up_for_deletion
        waiting = {replica for replica in replicas if is_deleted(replica.partition.topic)}
        self._replica_machine.handle_state_changes(replicas - waiting, ReplicaState.ONLINE)
        self._partition_machine.trigger_online_partition_state_change(is_deleted)
        self._reassigner.on_broker_startup(broker_ids)
        self._deletion.resume_deletion_for_topics(replica.partition.topic for replica in waiting)

    def on_broker_failure(self, broker_ids: Collection[int]) -> None:
        """Elect new leaders for the partitions of dead brokers, and take their replicas out of the ISRs."""
        self._context.shutting_down_broker_ids -= set(broker_ids)
        self._forget_offline_dirs(broker_ids)
        replicas = self._context.replicas_on_brokers(broker_ids)
        led = self._take_offline(replicas, self._context.partitions_led_by(broker_ids))
        self._reassigner.on_broker_failure(broker_ids)
        if not led:
            self._send_update_metadata(())  # no election has told the brokers which ones are alive

    def on_replicas_become_offline(self, replicas: Collection[PartitionAndReplica]) -> None:
        """Handle replicas on failed log directories of live brokers like replicas on failed brokers."""
        info = self._context.partition_leadership_info
        led = {
            each.partition
            for each in replicas
            if each.partition in info and info[each.partition].leader_and_isr.leader == each.replica
        }
        self._take_offline(set(replicas), led)
        self._send_update_metadata({each.partition for each in replicas})  # they say which replicas are offline

    def _forget_offline_dirs(self, broker_ids: Collection[int]) -> None:
        for broker_id in broker_ids:
            self._context.set_replicas_on_offline_dirs(broker_id, set())

    def _take_offline(self, replicas: set[PartitionAndReplica], led: set[TopicPartition]) -> set[TopicPartition]:
        """Elect leaders for the partitions that these replicas led, then take them out of the ISRs.

        Returns the partitions of ``led`` that are not being deleted.
        """
        deletion = self._deletion
        is_deleted = deletion.is_topic_queued_up_for_deletion
        without_leader = {partition for partition in led if not is_deleted(partition.topic)}
        self._partition_machine.handle_state_changes(without_leader, PartitionState.OFFLINE)
        self._partition_machine.trigger_online_partition_state_change(is_deleted)
        dying = {replica for replica in replicas if is_deleted(replica.partition.topic)}
        self._replica_machine.handle_state_changes(replicas - dying, ReplicaState.OFFLINE)
        deletion.fail_replica_deletion(dying)
        return without_leader

    def shut_down(self, broker_id: int) -> set[TopicPartition]:
        """A broker is about to stop: move its leaderships. Returns the replicated partitions that it still leads."""
        logger.info("Shutting down broker %d", broker_id)
        context = self._context
        context.shutting_down_broker_ids.add(broker_id)
        replicas = {
            replica
            for replica in context.replicas_on_brokers([broker_id])
            if len(context.partition_replica_assignment[replica.partition]) > 1
            and replica.partition in context.partition_leadership_info
        }
        led = context.partitions_led_by([broker_id])
        machine = self._partition_machine
        leading = [replica.partition for replica in replicas if replica.partition in led]
        machine.handle_state_changes(
            leading, PartitionState.ONLINE, machine.leader_selector.select_controlled_shutdown_leader
        )
        following = {replica for replica in replicas if replica.partition not in led}
        # It stops fetching before it leaves the ISRs; otherwise it could still enter them again.
        self._batch.new_batch()
        for replica in sorted(following):
            self._batch.add_stop_replica(replica, delete=False)
        self._batch.send_requests_to_brokers()
        self._replica_machine.handle_state_changes(following, ReplicaState.OFFLINE)
        return context.partitions_led_by([broker_id]) & {replica.partition for replica in replicas}
