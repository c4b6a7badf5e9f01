"""Moves partitions to other brokers.

Kafka 0.10.2: core/.../controller/KafkaController.scala (onPartitionReassignment, PartitionsReassignedListener,
ReassignedPartitionsIsrChangeListener); 2.4: the same file (processApiPartitionReassignment) · book 7.1.6
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import ControllerBrokerRequestBatch
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.controller.partition_leader_selector import StateChangeFailedError
from kafka_lite.controller.partition_state_machine import PartitionState, PartitionStateMachine
from kafka_lite.controller.replica_assignment import ReplicaAssignment, with_assignment
from kafka_lite.controller.replica_state_machine import ReplicaState, ReplicaStateMachine
from kafka_lite.controller.topic_deletion_manager import TopicDeletionManager
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaResponse
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import NoNodeError
from kafka_lite.zookeeper.znode_json import ZnodeDataError

logger = logging.getLogger(__name__)

Targets = Mapping[TopicPartition, list[int] | None]
"""The new replicas of each partition; None to cancel its reassignment."""
AlterResults = dict[TopicPartition, ApiError | None]
"""For each partition why it is not reassigned, or None."""


class PartitionReassigner:
    """Takes each reassignment through its steps, over several events and, if need be, several controllers.

    From [1,2] to [3,1], say, where RS are all replicas, AR those that are added, RR those that are removed::

        step  what                                                        RS       AR   RR   leader, ISR
                                                                          1,2                1 [1,2]
        U1    write RS, AR, RR into the topic's znode                     3,1,2    3    2    1 [1,2]
        U2    note them in memory, watch the ISR
        U3    stop replicas that only an earlier target needed
        A1    raise the leader epoch, send LeaderAndIsr to RS             3,1,2    3    2    1 [1,2]
        A2    AR become NewReplica
              … the new replicas catch up, the leader expands the ISR …   3,1,2    3    2    1 [1,2,3]
        B1    AR become OnlineReplica
        B2    RS without RR, in memory
        B3    a new leader, if the old one is in RR; else a new epoch     3,1,2    3    2    1 [1,2,3]
        B4    RR become OfflineReplica: out of the ISR                    3,1,2    3    2    1 [1,3]
        B5    RR become NonExistentReplica: StopReplica with deletion
        B6    write RS into the topic's znode                             3,1                1 [1,3]
        B7    out of /admin/reassign_partitions; stop to watch the ISR
        B8    UpdateMetadata to all brokers

    A controller that dies between two steps has left AR and RR in the topic's znode, so the next one begins again with
    A or B. B6 waits until the live brokers of RR have responded to B5: otherwise a controller that died before it had
    sent the requests would leave replicas on their disks that no controller knows. (Kafka does not wait.)

    Used by the controller's event thread only.
    """

    def __init__(
        self,
        context: ControllerContext,
        zk_client: KafkaZkClient,
        partitions: PartitionStateMachine,
        replicas: ReplicaStateMachine,
        deletion: TopicDeletionManager,
        batch: ControllerBrokerRequestBatch,
        *,
        send_update_metadata: Callable[[Collection[TopicPartition]], None],
        on_isr_change: Callable[[TopicPartition], None],
        on_replicas_stopped: Callable[[TopicPartition, Sequence[PartitionAndReplica]], None],
    ) -> None:
        """``on_isr_change`` and ``on_replicas_stopped`` are called in other threads, and must become events."""
        self._context = context
        self._zk_client = zk_client
        self._requests = AdminRequests(zk_client.zookeeper)
        self._partition_machine = partitions
        self._replica_machine = replicas
        self._deletion = deletion
        self._batch = batch
        self._send_update_metadata = send_update_metadata
        self._on_isr_change = on_isr_change
        self._on_replicas_stopped = on_replicas_stopped
        self._stopping: dict[TopicPartition, set[int]] = {}
        """The brokers that have not yet responded to step B5."""

    # --------------------------------------------------------------------------------------------------------- events

    def resume(self) -> None:
        """A new controller: continue the reassignments of the last one, unless the znode has changed."""
        left = dict(self._context.partitions_being_reassigned)
        self.process_znode()
        for partition, reassignment in left.items():
            if self._context.partitions_being_reassigned.get(partition) == reassignment:
                self._on_partition_reassignment(partition, reassignment)

    def shutdown(self) -> None:
        """Stop watching ISRs, and forget everything; the next controller reads it from ZooKeeper."""
        for partition in self._context.partitions_being_reassigned:
            self._zk_client.unwatch_partition_state(partition)
        self._stopping.clear()

    def process_znode(self) -> None:
        """/admin/reassign_partitions was written. Start what it asks for, and remove what is done or not possible."""
        try:
            wanted = self._requests.get_reassignment()
        except ZnodeDataError as error:
            logger.error("Ignoring a reassignment that cannot be read: %s", error)
            self._requests.delete_reassignment()
            return
        results: AlterResults = {}
        for partition, target in wanted.items():
            results[partition] = _malformed(target) or self._start(partition, target)
        refused = {partition: error for partition, error in results.items() if error is not None}
        if refused:
            logger.error("Not reassigned: %s", {str(partition): str(error) for partition, error in refused.items()})
        current = self._context.partitions_being_reassigned
        self._requests.remove_reassignments(lambda partition, _: partition in refused or partition not in current)

    def alter(self, targets: Targets, may_resize: bool = True) -> AlterResults:
        """AlterPartitionReassignments: start reassignments; cancel those whose new replicas are None.

        Unless it ``may_resize`` a partition, its number of replicas must stay: that of its target, if it has one.

        The last request wins: a partition that is in /admin/reassign_partitions is taken out.
        """
        results: AlterResults = {}
        for partition, target in targets.items():
            results[partition] = self._refuse(partition, target, may_resize)
        accepted = {partition for partition, error in results.items() if error is None}
        if accepted:
            self._requests.remove_reassignments(lambda partition, _: partition in accepted)
        for partition, target in targets.items():
            if partition in accepted:
                results[partition] = self._start(partition, target)
        return results

    def list_reassignments(
        self, partitions: Collection[TopicPartition] | None
    ) -> dict[TopicPartition, ReplicaAssignment]:
        """The partitions that are being reassigned, out of these (None: of all)."""
        current = self._context.partitions_being_reassigned
        return {p: current[p] for p in (current if partitions is None else partitions) if p in current}

    def isr_changed(self, partition: TopicPartition) -> None:
        """The ISR of a partition that was being reassigned has changed: perhaps all new replicas are in it now."""
        reassignment = self._context.partitions_being_reassigned.get(partition)
        if reassignment is None or partition in self._stopping:
            return
        if self._is_complete(partition, reassignment):
            logger.info("The new replicas %s of %s have caught up", reassignment.target_replicas, partition)
            self._on_partition_reassignment(partition, reassignment)

    def on_broker_startup(self, broker_ids: Collection[int]) -> None:
        """Continue reassignments that have waited for these brokers."""
        for partition, reassignment in list(self._context.partitions_being_reassigned.items()):
            if partition not in self._stopping and set(reassignment.target_replicas) & set(broker_ids):
                self._on_partition_reassignment(partition, reassignment)

    def on_broker_failure(self, broker_ids: Collection[int]) -> None:
        """These brokers will not respond any more."""
        for partition in list(self._stopping):
            self._note_stopped(partition, broker_ids)

    def replicas_stopped(self, partition: TopicPartition, replicas: Sequence[PartitionAndReplica]) -> None:
        """A broker has responded to step B5."""
        self._note_stopped(partition, [replica.replica for replica in replicas])

    # ------------------------------------------------------------------------------------------------------ decisions

    def _refuse(self, partition: TopicPartition, target: list[int] | None, may_resize: bool) -> ApiError | None:
        """Why the API does not accept a target (None: a cancellation)."""
        if target is None or (error := _malformed(target)) is not None:
            return None if target is None else error
        current = self._current(partition)
        if current is not None and not may_resize and len(target) != (size := len(current.target_replicas)):
            message = f"The replication factor is changed from {size} to {len(target)}"
            return ApiError(Errors.INVALID_REPLICATION_FACTOR, message)
        added = current.reassign_to(target).adding_replicas if current is not None else []
        live = self._context.live_broker_ids
        if set(added) <= live:
            return None
        message = "Replica assignment has brokers that are not alive. Replica list: "
        return ApiError(Errors.INVALID_REPLICA_ASSIGNMENT, f"{message}{added}, live broker list: {sorted(live)}")

    def _start(self, partition: TopicPartition, target: list[int] | None) -> ApiError | None:
        """Start, replace or (``target`` None) cancel a reassignment; returns why that is not possible."""
        if partition in self._stopping:
            self._complete(partition)
        current = self._current(partition)
        if current is None or self._deletion.is_topic_queued_up_for_deletion(partition.topic):
            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
        if target is None and not current.is_being_reassigned:
            return ApiError(Errors.NO_REASSIGNMENT_IN_PROGRESS)
        reassignment = current.reassign_to(current.origin_replicas if target is None else target)
        if reassignment == current:
            if not current.is_being_reassigned:
                logger.info("%s is already assigned to %s", partition, target)
            return None
        if (error := self._is_unclean(partition, reassignment)) is not None:
            return error
        try:
            self._on_partition_reassignment(partition, reassignment)
        except (StateChangeFailedError, NoNodeError) as failure:
            logger.exception("Error completing reassignment of partition %s", partition)
            return ApiError(Errors.UNKNOWN_SERVER_ERROR, str(failure))
        return None

    def _current(self, partition: TopicPartition) -> ReplicaAssignment | None:
        replicas = self._context.partition_replica_assignment.get(partition)
        if replicas is None:
            return None
        return self._context.partitions_being_reassigned.get(partition) or ReplicaAssignment(list(replicas))

    def _is_unclean(self, partition: TopicPartition, reassignment: ReplicaAssignment) -> ApiError | None:
        """The error if a reassignment drops all replicas in sync at once. (KRaft waits until a replica is in sync.)"""
        found = self._zk_client.get_partition_state(partition)
        if found is None or set(found.leader_and_isr.isr) & set(reassignment.replicas):
            return None
        message = f"No replica of {reassignment.replicas} is in the ISR {found.leader_and_isr.isr} of {partition}"
        return ApiError(Errors.INVALID_REPLICA_ASSIGNMENT, message)

    def _is_complete(self, partition: TopicPartition, reassignment: ReplicaAssignment) -> bool:
        """Whether all new replicas are in the ISR, and one of them is alive."""
        if not reassignment.is_being_reassigned:
            return True
        found = self._zk_client.get_partition_state(partition)
        target = set(reassignment.target_replicas)
        return (
            found is not None
            and target <= set(found.leader_and_isr.isr)
            and bool(target & self._context.live_broker_ids)
        )

    # ---------------------------------------------------------------------------------------------------------- steps

    def _on_partition_reassignment(self, partition: TopicPartition, reassignment: ReplicaAssignment) -> None:
        """All steps that are possible now; the class says what they are."""
        self._update_current_reassignment(partition, reassignment)  # U1 to U3
        if not self._is_complete(partition, reassignment):
            self._update_leader_epoch_and_send_request(partition, reassignment)  # A1
            self._start_new_replicas(partition, reassignment.adding_replicas)  # A2
            return
        self._bring_new_replicas_online(partition, reassignment.adding_replicas)  # B1
        target = reassignment.target_replicas
        self._context.partition_replica_assignment[partition] = target  # B2
        self._move_leader_if_required(partition, target)  # B3
        self._stop_removed_replicas(partition, reassignment.removing_replicas)  # B4, B5
        self._stopping[partition] = set(reassignment.removing_replicas) & self._context.live_or_shutting_down_broker_ids
        self._note_stopped(partition, ())  # B6 to B8, unless there is a response to wait for

    def _update_current_reassignment(self, partition: TopicPartition, reassignment: ReplicaAssignment) -> None:
        current = self._current(partition)
        if current is not None and current != reassignment:
            logger.info("Changing the replicas of %s from %s to %s", partition, current, reassignment)
            self._write_assignment(partition, reassignment)
            self._context.partition_replica_assignment[partition] = list(reassignment.replicas)
            unneeded = [replica for replica in current.replicas if replica not in reassignment.replicas]
            self._stop_removed_replicas(partition, unneeded)
        # The watch comes before the look at the ISR, so that no change is missed.
        self._zk_client.watch_partition_state(partition, lambda: self._on_isr_change(partition))
        self._context.partitions_being_reassigned[partition] = reassignment

    def _update_leader_epoch_and_send_request(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        """The new epoch makes the brokers accept the new list of replicas. Raises StateChangeFailedError."""
        state = self._partition_machine.update_leader_epoch(partition)
        self._batch.new_batch()
        for replicas, are_new in ((assignment.origin_replicas, False), (assignment.adding_replicas, True)):
            self._batch.add_leader_and_isr(replicas, partition, state, assignment.replicas, is_new=are_new)
        self._batch.send_requests_to_brokers()

    def _start_new_replicas(self, partition: TopicPartition, adding: Sequence[int]) -> None:
        machine = self._replica_machine
        replicas = [PartitionAndReplica(partition, replica) for replica in adding]
        # Those that a controller has started before this one are ONLINE.
        unknown = [replica for replica in replicas if machine.state(replica) is ReplicaState.NON_EXISTENT]
        machine.handle_state_changes(unknown, ReplicaState.NEW)

    def _bring_new_replicas_online(self, partition: TopicPartition, adding: Sequence[int]) -> None:
        live = self._context.live_or_shutting_down_broker_ids
        replicas = [PartitionAndReplica(partition, replica) for replica in adding if replica in live]
        self._start_new_replicas(partition, [replica.replica for replica in replicas])
        self._replica_machine.handle_state_changes(replicas, ReplicaState.ONLINE)

    def _move_leader_if_required(self, partition: TopicPartition, target: Sequence[int]) -> None:
        info = self._context.partition_leadership_info.get(partition)
        if info is None:
            return  # it has never had a leader
        leader = info.leader_and_isr.leader
        if leader in target and leader in self._context.live_broker_ids:
            # So that the leader does not take removed replicas into the ISR again.
            self._update_leader_epoch_and_send_request(partition, ReplicaAssignment(list(target)))
            return
        logger.info(
            "Leader %d of %s is not among the live replicas of %s: electing a new one", leader, partition, target
        )
        machine = self._partition_machine
        machine.handle_state_changes(
            [partition], PartitionState.ONLINE, machine.leader_selector.select_reassigned_leader
        )

    def _stop_removed_replicas(self, partition: TopicPartition, removed: Sequence[int]) -> None:
        machine = self._replica_machine
        replicas = [PartitionAndReplica(partition, replica) for replica in removed]
        machine.handle_state_changes(replicas, ReplicaState.OFFLINE)

        def on_response(stopped: Sequence[PartitionAndReplica], _response: StopReplicaResponse) -> None:
            self._on_replicas_stopped(partition, stopped)

        machine.handle_state_changes(replicas, ReplicaState.DELETION_STARTED, on_response)
        machine.handle_state_changes(replicas, ReplicaState.DELETION_SUCCESSFUL)
        machine.handle_state_changes(replicas, ReplicaState.NON_EXISTENT)

    def _note_stopped(self, partition: TopicPartition, broker_ids: Collection[int]) -> None:
        awaited = self._stopping.get(partition)
        if awaited is None:
            return
        awaited -= set(broker_ids)
        if partition not in self._context.partitions_being_reassigned:
            del self._stopping[partition]  # its topic is gone
        elif not awaited:
            self._complete(partition)

    def _complete(self, partition: TopicPartition) -> None:
        """B6 to B8."""
        del self._stopping[partition]
        target = self._context.partition_replica_assignment[partition]
        self._write_assignment(partition, ReplicaAssignment(list(target)))
        self._zk_client.unwatch_partition_state(partition)
        self._requests.remove_reassignments(lambda each, replicas: each == partition and replicas == target)
        del self._context.partitions_being_reassigned[partition]
        logger.info("Completed the reassignment of %s to %s", partition, target)
        self._send_update_metadata([partition])
        self._deletion.resume_deletion_for_topics([partition.topic])

    def _write_assignment(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        """Raises NoNodeError if the topic is gone."""
        topic, number = partition
        self._zk_client.change_topic_assignment(topic, lambda found: with_assignment(found, number, assignment))


def _malformed(target: Sequence[int]) -> ApiError | None:
    """The error if these can be nobody's replicas."""
    error = Errors.INVALID_REPLICA_ASSIGNMENT
    if not target:
        return ApiError(error, "Empty replica list specified in partition reassignment.")
    if len(set(target)) < len(target):
        return ApiError(error, f"Duplicate replica ids in partition reassignment replica list: {list(target)}")
    if min(target) < 0:
        return ApiError(error, f"Invalid broker id in replica list: {list(target)}")
    return None
