"""Elections that somebody asks for: of preferred replicas, of any replica that is alive, and the automatic rebalance.

Kafka 0.10.2: core/.../controller/KafkaController.scala (onPreferredReplicaElection, PreferredReplicaElectionListener,
checkAndTriggerPartitionRebalance); 2.4: the same file (processReplicaLeaderElection) · book 7.1.4, 7.1.6
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from enum import Enum

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import ControllerContext
from kafka_lite.controller.partition_leader_selector import LeaderElectionNotNeededError
from kafka_lite.controller.partition_state_machine import PartitionState, PartitionStateMachine
from kafka_lite.controller.topic_deletion_manager import TopicDeletionManager
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.znode_json import ZnodeDataError

logger = logging.getLogger(__name__)


class ElectionType(Enum):
    """The kinds of election in ElectLeaders; the numbers are those of the request."""

    PREFERRED = 0
    """The first assigned replica, if it is in sync."""
    UNCLEAN = 1
    """Any live replica, if the partition has no leader and no replica in sync is alive. Messages may be lost."""


ElectionResults = dict[TopicPartition, ApiError | int]
"""For each partition the new leader, or why there is none."""


class ReplicaLeaderElection:
    """Moves leaderships on request. Used by the controller's event thread only."""

    def __init__(
        self,
        context: ControllerContext,
        requests: AdminRequests,
        partitions: PartitionStateMachine,
        deletion: TopicDeletionManager,
        imbalance_percentage: int,
    ) -> None:
        """``imbalance_percentage``: leader.imbalance.per.broker.percentage."""
        self._context = context
        self._requests = requests
        self._partition_machine = partitions
        self._deletion = deletion
        self._imbalance_percentage = imbalance_percentage

    def process_znode(self) -> None:
        """/admin/preferred_replica_election was written: elect, and delete it, whatever came of it."""
        try:
            partitions = self._requests.get_preferred_replica_election()
        except ZnodeDataError as error:
            logger.error("Ignoring an election of preferred replicas that cannot be read: %s", error)
            partitions = set()
        if partitions is None:
            return
        logger.info("Starting preferred replica leader election for partitions %s", sorted(map(str, partitions)))
        for partition, result in self.elect(sorted(partitions), ElectionType.PREFERRED).items():
            if isinstance(result, ApiError) and result.error is not Errors.ELECTION_NOT_NEEDED:
                logger.warning(
                    "Partition %s failed to complete preferred replica leader election: %s", partition, result
                )
        self._requests.delete_preferred_replica_election()

    def elect(self, partitions: Collection[TopicPartition], election_type: ElectionType) -> ElectionResults:
        """Elect leaders where it is possible and needed.

        Errors: UNKNOWN_TOPIC_OR_PARTITION; INVALID_TOPIC_EXCEPTION of a topic that is being deleted;
        ELECTION_NOT_NEEDED; PREFERRED_LEADER_NOT_AVAILABLE or ELIGIBLE_LEADERS_NOT_AVAILABLE.
        """
        results: ElectionResults = {}
        electable = []
        for partition in partitions:
            error = self._refuse(partition, election_type)
            if error is None:
                electable.append(partition)
            else:
                results[partition] = error
        machine, selector = self._partition_machine, self._partition_machine.leader_selector
        preferred = election_type is ElectionType.PREFERRED
        select_leader = selector.select_preferred_leader if preferred else selector.select_unclean_leader
        failures = machine.handle_state_changes(electable, PartitionState.ONLINE, select_leader)
        not_available = Errors.PREFERRED_LEADER_NOT_AVAILABLE if preferred else Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE
        for partition in electable:
            failure = failures.get(partition)
            if isinstance(failure, LeaderElectionNotNeededError):
                results[partition] = ApiError(Errors.ELECTION_NOT_NEEDED)
            elif failure is not None:
                results[partition] = ApiError(not_available, str(failure))
            else:
                results[partition] = self._context.partition_leadership_info[partition].leader_and_isr.leader
        return results

    def _refuse(self, partition: TopicPartition, election_type: ElectionType) -> ApiError | None:
        if not self._context.partition_replica_assignment.get(partition):
            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
        if self._deletion.is_topic_queued_up_for_deletion(partition.topic):
            return ApiError(Errors.INVALID_TOPIC_EXCEPTION, "The topic is being deleted")
        info = self._context.partition_leadership_info.get(partition)
        leader = info.leader_and_isr.leader if info is not None else None
        if election_type is ElectionType.PREFERRED:
            has_right_leader = leader == self._context.partition_replica_assignment[partition][0]
        else:
            has_right_leader = leader in self._context.live_or_shutting_down_broker_ids
        return ApiError(Errors.ELECTION_NOT_NEEDED) if has_right_leader else None

    def rebalance(self) -> None:
        """Give leaderships back to each broker that has lost more than the percentage of its own.

        Leaves alone partitions that are being deleted or reassigned, and those whose preferred replica cannot lead now.
        """
        context = self._context
        eligible = {
            partition: replicas
            for partition, replicas in context.partition_replica_assignment.items()
            if replicas
            and partition in context.partition_leadership_info
            and partition not in context.partitions_being_reassigned
            and not self._deletion.is_topic_queued_up_for_deletion(partition.topic)
        }
        leaders = {p: context.partition_leadership_info[p].leader_and_isr.leader for p in eligible}
        moved = imbalanced_partitions(eligible, leaders, self._imbalance_percentage)
        electable = [partition for partition in sorted(moved) if self._can_lead(partition, eligible[partition][0])]
        if electable:
            logger.info("Leaders are imbalanced: electing the preferred replicas of %s", list(map(str, electable)))
            self.elect(electable, ElectionType.PREFERRED)

    def _can_lead(self, partition: TopicPartition, broker_id: int) -> bool:
        isr = self._context.partition_leadership_info[partition].leader_and_isr.isr
        return broker_id in self._context.online_broker_ids(partition) and broker_id in isr


def imbalanced_partitions(
    assignment: Mapping[TopicPartition, list[int]], leaders: Mapping[TopicPartition, int], percentage: int
) -> set[TopicPartition]:
    """The partitions to move back, of each broker that does not lead more than ``percentage`` of its own."""
    preferring: dict[int, list[TopicPartition]] = {}
    for partition, replicas in assignment.items():
        preferring.setdefault(replicas[0], []).append(partition)
    found = set()
    for broker_id, partitions in preferring.items():
        elsewhere = [partition for partition in partitions if leaders[partition] != broker_id]
        if len(elsewhere) * 100 > percentage * len(partitions):
            found.update(elsewhere)
    return found
