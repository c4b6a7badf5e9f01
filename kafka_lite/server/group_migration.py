"""Tells the group coordinator which partitions of ``__consumer_offsets`` the controller gives to this broker, or takes.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleLeaderAndIsrRequest, handleStopReplicaRequest) · book 7.2.3
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.admin.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
)
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest, StopReplicaResponse
from kafka_lite.server.replica_manager import ReplicaManager, leader_and_isr_states, replicas_to_stop


class GroupMigration:
    """Stands before the replica manager: a group lives where the leader of its partition is.

    Only what the replica manager has carried out counts, so the response is looked at, too.
    """

    def __init__(self, broker_id: int, replica_manager: ReplicaManager, coordinator: GroupCoordinator) -> None:
        self._broker_id = broker_id
        self._replicas = replica_manager
        self._coordinator = coordinator

    def become_leader_or_follower(self, request: LeaderAndIsrRequest) -> LeaderAndIsrResponse:
        """Make partitions leaders or followers; groups of new leaders are loaded, those of followers unloaded."""
        response = self._replicas.become_leader_or_follower(request)
        done = {error.partition_index for error in response.partition_errors if _is_done(error)}
        self._migrate(state for state in leader_and_isr_states(request) if state.partition_index in done)
        return response

    def make_missing_logs(self) -> None:
        """Make the logs for which there was no room; groups in them are loaded."""
        self._migrate(self._replicas.make_missing_logs())

    def _migrate(self, states: Iterable[LeaderAndIsrPartitionState]) -> None:
        for state in states:
            if state.topic_name == GROUP_METADATA_TOPIC_NAME:
                if state.leader == self._broker_id:
                    self._coordinator.on_election(state.partition_index, state.leader_epoch)
                else:
                    self._coordinator.on_resignation(state.partition_index, state.leader_epoch)

    def stop_replicas(self, request: StopReplicaRequest) -> StopReplicaResponse:
        """Stop serving partitions; their groups are unloaded."""
        response = self._replicas.stop_replicas(request)
        if response.error_code == Errors.NONE.code:
            for topic_partition, _ in replicas_to_stop(request):
                if topic_partition.topic == GROUP_METADATA_TOPIC_NAME:
                    self._coordinator.on_resignation(topic_partition.partition, None)
        return response


def _is_done(error: LeaderAndIsrPartitionError) -> bool:
    return error.topic_name == GROUP_METADATA_TOPIC_NAME and error.error_code == Errors.NONE.code
