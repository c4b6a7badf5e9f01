"""The choice of a new leader for a partition: pure decisions, and what they are to be made from.

Kafka 0.10.2: core/.../controller/PartitionLeaderSelector.scala · book 7.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import ControllerContext
from kafka_lite.zookeeper.data import LeaderAndIsr

logger = logging.getLogger(__name__)


class StateChangeFailedError(KafkaError):
    """A partition or replica could not be brought into another state; it keeps the one it had."""


class NoReplicaOnlineError(StateChangeFailedError):
    """No replica that may lead is alive."""


class LeaderElectionNotNeededError(StateChangeFailedError):
    """The partition already has the leader that it should have."""


@dataclass(frozen=True)
class Election:
    """The outcome: what to write into the ``state`` node, and the brokers that must be told."""

    leader_and_isr: LeaderAndIsr
    replicas_to_tell: list[int]


SelectLeader = Callable[[TopicPartition, LeaderAndIsr], Election]
"""Chooses a partition's leader, given leader and ISR so far. Raises StateChangeFailedError if there is none."""


def select_offline_partition_leader(
    partition: TopicPartition,
    current: LeaderAndIsr,
    live_replicas: Sequence[int],
    live_broker_ids: Collection[int],
    unclean_leader_election_enable: bool,
) -> Election:
    """The new leader of a partition whose leader has died. ``live_replicas`` are in the order of the assignment.

    1. The first live replica that is in the ISR: it has every committed message. The ISR keeps its live members.
    2. If the ISR is dead, and the topic allows unclean elections: the first live replica. The ISR is that replica
       alone, and messages that it had not yet fetched are lost.
    3. Otherwise none: raises NoReplicaOnlineError, and the partition stays offline until a member of the ISR is back.
    """
    epoch = current.leader_epoch + 1
    in_sync = [replica for replica in live_replicas if replica in current.isr]
    if in_sync:
        isr = [member for member in current.isr if member in live_broker_ids]
        return Election(LeaderAndIsr(in_sync[0], isr, epoch, current.zk_version), list(live_replicas))
    if not unclean_leader_election_enable:
        raise NoReplicaOnlineError(
            f"No broker in ISR for partition {partition} is alive. Live brokers are: {sorted(live_broker_ids)}, "
            f"ISR brokers are: {current.isr}"
        )
    if not live_replicas:
        raise NoReplicaOnlineError(
            f"No replica for partition {partition} is alive. Live brokers are: {sorted(live_broker_ids)}"
        )
    leader = live_replicas[0]
    return Election(LeaderAndIsr(leader, [leader], epoch, current.zk_version), list(live_replicas))


def select_controlled_shutdown_leader(
    partition: TopicPartition,
    current: LeaderAndIsr,
    live_replicas: Sequence[int],
    shutting_down_broker_ids: Collection[int],
) -> Election:
    """The new leader of a partition whose leader is about to stop.

    The first of ``live_replicas`` that is in the ISR and does not stop, too. ``live_replicas`` are in the order of the
    assignment and include those that are about to stop; these leave the ISR. Raises StateChangeFailedError if no such
    replica is left.
    """
    isr = [member for member in current.isr if member not in shutting_down_broker_ids]
    leader = next((replica for replica in live_replicas if replica in isr), None)
    if leader is None:
        raise StateChangeFailedError(
            f"No other replicas in ISR {current.isr} for {partition} besides shutting down brokers "
            f"{sorted(shutting_down_broker_ids)}"
        )
    return Election(LeaderAndIsr(leader, isr, current.leader_epoch + 1, current.zk_version), list(live_replicas))


def select_reassigned_partition_leader(
    partition: TopicPartition,
    current: LeaderAndIsr,
    target_replicas: Sequence[int],
    live_broker_ids: Collection[int],
) -> Election:
    """The new leader of a partition whose leader is not among its new replicas, or is dead.

    The first of ``target_replicas`` that is alive and in the ISR. The ISR stays as it is: the replicas that are removed
    leave it afterwards. Raises NoReplicaOnlineError.
    """
    candidates = [replica for replica in target_replicas if replica in live_broker_ids and replica in current.isr]
    if not candidates:
        raise NoReplicaOnlineError(
            f"No replica of the new list {list(target_replicas)} of {partition} is alive and in the ISR {current.isr}"
        )
    new = LeaderAndIsr(candidates[0], list(current.isr), current.leader_epoch + 1, current.zk_version)
    return Election(new, list(target_replicas))


def select_preferred_replica_leader(
    partition: TopicPartition,
    current: LeaderAndIsr,
    assigned_replicas: Sequence[int],
    live_broker_ids: Collection[int],
) -> Election:
    """Make the first assigned replica the leader, if it is alive and in the ISR.

    Raises LeaderElectionNotNeededError if it leads already, StateChangeFailedError if it cannot lead.
    """
    preferred = assigned_replicas[0]
    if current.leader == preferred:
        raise LeaderElectionNotNeededError(
            f"Preferred replica {preferred} is already the current leader of {partition}"
        )
    if preferred not in live_broker_ids or preferred not in current.isr:
        raise StateChangeFailedError(
            f"Preferred replica {preferred} of {partition} is either not alive or not in the ISR {current.isr}"
        )
    new = LeaderAndIsr(preferred, list(current.isr), current.leader_epoch + 1, current.zk_version)
    return Election(new, list(assigned_replicas))


def select_same_leader(_partition: TopicPartition, current: LeaderAndIsr) -> Election:
    """No other leader, but the next leader epoch, so that the brokers accept another list of replicas."""
    new = LeaderAndIsr(current.leader, list(current.isr), current.leader_epoch + 1, current.zk_version)
    return Election(new, [])


class PartitionLeaderSelector:
    """Applies the decisions above to what the controller knows of a partition. Each method is a SelectLeader."""

    def __init__(
        self,
        context: ControllerContext,
        unclean_leader_election_enable: Callable[[str], bool],
        on_unclean_election: Callable[[], None],
    ) -> None:
        """``unclean_leader_election_enable`` says whether a topic allows unclean elections."""
        self._context = context
        self._unclean_leader_election_enable = unclean_leader_election_enable
        self._on_unclean_election = on_unclean_election

    def select_offline_leader(
        self, partition: TopicPartition, current: LeaderAndIsr, *, allow_unclean: bool = False
    ) -> Election:
        """The leader of a partition whose leader has died. Raises NoReplicaOnlineError.

        ``allow_unclean`` allows what the topic's configuration may forbid.
        """
        live = self._context.live_replicas(partition)
        in_sync = any(replica in current.isr for replica in live)
        unclean = not in_sync and (allow_unclean or self._unclean_leader_election_enable(partition.topic))
        if unclean and live:
            self._on_unclean_election()
            logger.warning(
                "No broker in ISR %s of %s is alive. Electing %d; messages that it does not have are lost",
                current.isr,
                partition,
                live[0],
            )
        online = self._context.online_broker_ids(partition)
        return select_offline_partition_leader(partition, current, live, online, unclean)

    def select_unclean_leader(self, partition: TopicPartition, current: LeaderAndIsr) -> Election:
        """As for a dead leader, with any live replica if the ISR is dead. Raises NoReplicaOnlineError."""
        return self.select_offline_leader(partition, current, allow_unclean=True)

    def select_controlled_shutdown_leader(self, partition: TopicPartition, current: LeaderAndIsr) -> Election:
        """The leader of a partition whose leader is about to stop. Raises StateChangeFailedError."""
        context = self._context
        live = context.live_or_shutting_down_broker_ids
        assigned = context.partition_replica_assignment.get(partition, ())
        replicas = [r for r in assigned if r in live and context.has_log(r, partition)]
        return select_controlled_shutdown_leader(partition, current, replicas, context.shutting_down_broker_ids)

    def select_reassigned_leader(self, partition: TopicPartition, current: LeaderAndIsr) -> Election:
        """The leader of a partition whose assignment is already the new one. Raises NoReplicaOnlineError."""
        target = self._context.partition_replica_assignment.get(partition, [])
        online = self._context.online_broker_ids(partition)
        return select_reassigned_partition_leader(partition, current, target, online)

    def select_preferred_leader(self, partition: TopicPartition, current: LeaderAndIsr) -> Election:
        """The first assigned replica. Raises LeaderElectionNotNeededError, StateChangeFailedError."""
        assigned = self._context.partition_replica_assignment.get(partition, [])
        if not assigned:
            raise StateChangeFailedError("it has no replicas")
        online = self._context.online_broker_ids(partition)
        return select_preferred_replica_leader(partition, current, assigned, online)
