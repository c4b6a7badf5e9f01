"""Requests between brokers: LeaderAndIsr, StopReplica, UpdateMetadata, ControlledShutdown.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleLeaderAndIsrRequest, handleStopReplicaRequest,
handleUpdateMetadataRequest, handleControlledShutdownRequest) · book 7.2.3, 7.3.1, 7.4
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_offsets import GroupOffsets
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest, StopReplicaResponse
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kafka_lite.protocol.messages.api_07_controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.replica_manager import ReplicaManager


class ReplicationApis:
    """Handlers of what the controller orders, and of what a broker that stops asks of the controller.

    The controller is a client like any other here: that of this broker, too, comes through the table of ``KafkaApis``.
    The groups of a partition of ``__consumer_offsets`` live on the broker that leads it, so the coordinator hears of
    every partition that this broker begins or ceases to lead.
    """

    def __init__(
        self,
        replica_manager: ReplicaManager,
        metadata_cache: MetadataCache,
        coordinator: GroupCoordinator,
        offsets: GroupOffsets,
        controller: KafkaController,
        on_topic_changed: Callable[[str], None],
    ) -> None:
        """``on_topic_changed`` is called for each topic whose metadata has changed."""
        self._replicas = replica_manager
        self._metadata_cache = metadata_cache
        self._coordinator = coordinator
        self._offsets = offsets
        self._controller = controller
        self._on_topic_changed = on_topic_changed

    def handle_leader_and_isr(self, _request: Request, body: LeaderAndIsrRequest, respond: Respond) -> None:
        """Make partitions leaders or followers; load the groups of new leaders, unload those of followers."""
        respond(self._replicas.become_leader_or_follower(body, self._migrate_groups))

    def make_missing_logs(self) -> None:
        """Make the logs for which there was no room before; load the groups in them."""
        self._replicas.make_missing_logs(self._migrate_groups)

    def _migrate_groups(self, leaders: Collection[Partition], followers: Collection[Partition]) -> None:
        for partition in leaders:
            topic, index = partition.topic_partition
            if topic == GROUP_METADATA_TOPIC_NAME:
                self._coordinator.on_election(index, partition.leader_epoch)
        for partition in followers:
            topic, index = partition.topic_partition
            if topic == GROUP_METADATA_TOPIC_NAME:
                self._coordinator.on_resignation(index, partition.leader_epoch)

    def handle_stop_replica(self, _request: Request, body: StopReplicaRequest, respond: Respond) -> None:
        """Stop following partitions, or delete them; the groups of deleted ones are unloaded."""
        response = self._replicas.stop_replicas(body)
        stopped = _without_error(response)
        for topic_partition, delete in body.partitions():
            if delete and topic_partition.topic == GROUP_METADATA_TOPIC_NAME and topic_partition in stopped:
                self._coordinator.on_resignation(topic_partition.partition, None)
        respond(response)

    def handle_update_metadata(self, _request: Request, body: UpdateMetadataRequest, respond: Respond) -> None:
        """Bring the metadata cache up to date; drop offsets that groups have committed for deleted partitions."""
        try:
            deleted = self._replicas.maybe_update_metadata_cache(body, self._metadata_cache)
        except ApiError as failure:
            respond(UpdateMetadataResponse(error_code=failure.error.code))
            return
        if deleted:
            self._offsets.handle_deleted_partitions(deleted)
        for topic in {topic_partition.topic for topic_partition, _ in body.partition_states()}:
            self._on_topic_changed(topic)
        respond(UpdateMetadataResponse(error_code=Errors.NONE.code))

    def handle_controlled_shutdown(self, _request: Request, body: ControlledShutdownRequest, respond: Respond) -> None:
        """Move the leaderships of a broker to others, and respond with those that could not be moved."""

        def send(error: Errors, remaining: Collection[TopicPartition]) -> None:
            partitions = [RemainingPartition(topic_name=tp.topic, partition_index=tp.partition) for tp in remaining]
            respond(ControlledShutdownResponse(error_code=error.code, remaining_partitions=partitions))

        self._controller.shutdown_broker(body.broker_id, send)


def _without_error(response: StopReplicaResponse) -> set[TopicPartition]:
    return {
        TopicPartition(result.topic_name, result.partition_index)
        for result in response.partition_errors
        if result.error_code == Errors.NONE.code
    }
