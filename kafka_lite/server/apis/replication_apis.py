"""Requests between brokers: LeaderAndIsr, StopReplica, UpdateMetadata, ControlledShutdown.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleLeaderAndIsrRequest, handleStopReplicaRequest,
handleUpdateMetadataRequest, handleControlledShutdownRequest) · book 7.2.3, 7.3.1, 7.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, Protocol
from uuid import UUID

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_names import is_valid_topic_name
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.coordinator.group.group_offsets import GroupOffsets
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest, StopReplicaResponse
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kafka_lite.protocol.messages.api_07_controlled_shutdown import ControlledShutdownRequest
from kafka_lite.protocol.schema import Response
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.kafka_healthcheck import UNKNOWN_BROKER_EPOCH
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.replica_state_changes import ReplicaStateChanges
from kafka_lite.server.replication.controlled_shutdown import controlled_shutdown_response

logger = logging.getLogger(__name__)

ControllerRequest = LeaderAndIsrRequest | StopReplicaRequest | UpdateMetadataRequest
_RESPONSES: Final[dict[ApiKey, Callable[..., Response]]] = {
    ApiKey.LEADER_AND_ISR: LeaderAndIsrResponse,
    ApiKey.STOP_REPLICA: StopReplicaResponse,
    ApiKey.UPDATE_METADATA: UpdateMetadataResponse,
}
FIRST_LEADER_AND_ISR_BY_ID = 5
"""The first version whose response has the topics' ids in place of their names."""


class Coordinator(Protocol):
    """The coordinator of groups, or of transactions: it moves with the leadership of its topic's partitions."""

    def on_election(self, partition: int, coordinator_epoch: int, /) -> None:
        """This broker leads the partition."""
        ...

    def on_resignation(self, partition: int, coordinator_epoch: int | None, /) -> None:
        """This broker does not, or no longer, lead the partition; None as epoch: the replica is deleted."""
        ...


class ReplicationApis:
    """Handlers of the controller's requests, and of the request of a broker that is shutting down.

    The controller is a client like any other: even this broker's own controller goes through the table of
    ``KafkaApis``. The groups of a partition of ``__consumer_offsets`` are on the broker that leads it, and so are the
    transactional ids of a partition of ``__transaction_state``. So a coordinator is notified of every partition of its
    topic that this broker starts or stops leading.
    """

    def __init__(
        self,
        state_changes: ReplicaStateChanges,
        metadata_cache: MetadataCache,
        coordinators: Mapping[str, Coordinator],
        offsets: GroupOffsets,
        controller: KafkaController,
        on_topic_changed: Callable[[str], None],
        on_metadata_updated: Callable[[str], None],
        notify_controller: Callable[[], None],
        broker_epoch: Callable[[], int],
        broker_epoch_of: Callable[[int], int | None],
        on_topics_deleted: Callable[[Collection[UUID]], None] = lambda _topic_ids: None,
    ) -> None:
        """``coordinators`` has the coordinator of each internal topic.

        ``on_topic_changed`` is called for each topic whose metadata has changed; ``on_metadata_updated`` once for each
        update, with the listener that it came through ("" for this broker's own).

        ``notify_controller`` says that this broker has other replicas online than before. ``broker_epoch`` is that of
        this broker's registration, ``broker_epoch_of`` reads another one's from ZooKeeper. ``on_topics_deleted`` gets
        the ids of topics that are gone.
        """
        self._state_changes = state_changes
        self._metadata_cache = metadata_cache
        self._coordinators = coordinators
        self._offsets = offsets
        self._controller = controller
        self._on_topic_changed = on_topic_changed
        self._on_metadata_updated = on_metadata_updated
        self._notify_controller = notify_controller
        self._broker_epoch = broker_epoch
        self._broker_epoch_of = broker_epoch_of
        self._on_topics_deleted = on_topics_deleted

    def check_head(self, request: Request, head: ControllerRequest, respond: Respond) -> None:
        """Refuse a large request of which only the numbers at its start are decoded, if its epochs are stale."""
        error = self._error_of_epochs(head)
        if error is not Errors.NONE:
            logger.warning("Refusing a %s request of %s: %s", head.API_KEY.name, request.connection_id, error.name)
            respond(_RESPONSES[head.API_KEY](error_code=error.code))

    def _error_of_epochs(self, head: ControllerRequest) -> Errors:
        if self._is_stale(head.broker_epoch):
            return Errors.STALE_BROKER_EPOCH
        is_stale = head.controller_epoch < self._state_changes.controller_epoch
        return Errors.STALE_CONTROLLER_EPOCH if is_stale else Errors.NONE

    def _is_stale(self, broker_epoch: int) -> bool:
        """Whether a request is meant for an earlier run of this broker (KIP-380); older versions do not say."""
        return broker_epoch != UNKNOWN_BROKER_EPOCH and broker_epoch < self._broker_epoch()

    def _error_of(self, api: ApiKey, broker_epoch: int, partitions: Iterable[tuple[str, int]]) -> Errors:
        """Why a request is refused as a whole; NONE if it is not.

        Anybody may send what the controller sends if there are no ACLs, and the names become folders of the disk.
        """
        if self._is_stale(broker_epoch):
            return Errors.STALE_BROKER_EPOCH
        known = set[str]()
        for topic, index in partitions:
            if index < 0 or (topic not in known and not is_valid_topic_name(topic)):
                logger.warning(
                    "Refusing a %s request with the partition %.300r of topic %.300r", api.name, index, topic
                )
                return Errors.INVALID_TOPIC_EXCEPTION
            known.add(topic)
        return Errors.NONE

    def handle_leader_and_isr(self, request: Request, body: LeaderAndIsrRequest, respond: Respond) -> None:
        """Make partitions leaders or followers; load what coordinators have in new leaders, unload it in followers."""
        named = ((state.topic_name, state.partition_index) for state in body.partition_states())
        error = self._error_of(body.API_KEY, body.broker_epoch, named)
        if error is not Errors.NONE:
            respond(LeaderAndIsrResponse(error_code=error.code))
            return
        response = self._state_changes.become_leader_or_follower(body, self._migrate_coordinators)
        by_id = request.header.api_version >= FIRST_LEADER_AND_ISR_BY_ID
        respond(response.by_topic_id(body.topic_ids()) if by_id else response)

    def make_missing_logs(self) -> None:
        """Create logs for which there was no space before, let coordinators load them, notify the controller."""
        if self._state_changes.make_missing_logs(self._migrate_coordinators):
            self._notify_controller()

    def _migrate_coordinators(self, leaders: Collection[Partition], followers: Collection[Partition]) -> None:
        for partition in leaders:
            topic, index = partition.topic_partition
            if topic in self._coordinators:
                self._coordinators[topic].on_election(index, partition.leader_epoch)
        for partition in followers:
            topic, index = partition.topic_partition
            if topic in self._coordinators:
                self._coordinators[topic].on_resignation(index, partition.leader_epoch)

    def handle_stop_replica(self, _request: Request, body: StopReplicaRequest, respond: Respond) -> None:
        """Stop following partitions, or delete them; coordinators unload those that are not led here any more."""
        error = self._error_of(body.API_KEY, body.broker_epoch, (partition for partition, _ in body.partitions()))
        if error is not Errors.NONE:
            respond(StopReplicaResponse(error_code=error.code))
            return
        response = self._state_changes.stop_replicas(body)
        stopped = _without_error(response)
        for topic_partition, delete in body.partitions():
            coordinator = self._coordinators.get(topic_partition.topic)
            resigns = delete or self._state_changes.without_room.is_offered(topic_partition)
            if resigns and coordinator is not None and topic_partition in stopped:
                coordinator.on_resignation(topic_partition.partition, None)
        respond(response)

    def handle_update_metadata(self, request: Request, body: UpdateMetadataRequest, respond: Respond) -> None:
        """Update the metadata cache; drop committed offsets of deleted partitions."""
        error = self._error_of(body.API_KEY, body.broker_epoch, (partition for partition, _ in body.partition_states()))
        if error is not Errors.NONE:
            respond(UpdateMetadataResponse(error_code=error.code))
            return
        ids_before = self._metadata_cache.snapshot.topic_ids
        try:
            deleted = self._state_changes.maybe_update_metadata_cache(body, self._metadata_cache)
        except ApiError as failure:
            respond(UpdateMetadataResponse(error_code=failure.error.code))
            return
        if deleted:
            self._offsets.handle_deleted_partitions(deleted)
            gone = {topic_id for topic, _ in deleted if (topic_id := ids_before.get(topic)) is not None}
            self._on_topics_deleted(gone - set(self._metadata_cache.snapshot.topic_names))
        for topic in dict.fromkeys(topic_partition.topic for topic_partition, _ in body.partition_states()):
            self._on_topic_changed(topic)
        self._on_metadata_updated(request.listener_name)
        respond(UpdateMetadataResponse(error_code=Errors.NONE.code))

    def handle_controlled_shutdown(self, _request: Request, body: ControlledShutdownRequest, respond: Respond) -> None:
        """Move a broker's leaders to other brokers; respond with the partitions that could not be moved."""
        if body.broker_epoch != UNKNOWN_BROKER_EPOCH:
            registered = self._broker_epoch_of(body.broker_id)
            if registered is not None and body.broker_epoch < registered:  # it has restarted since
                respond(controlled_shutdown_response(Errors.STALE_BROKER_EPOCH, ()))
                return
        self._controller.shutdown_broker(
            body.broker_id, lambda error, remaining: respond(controlled_shutdown_response(error, remaining))
        )


def _without_error(response: StopReplicaResponse) -> set[TopicPartition]:
    return {
        TopicPartition(result.topic_name, result.partition_index)
        for result in response.partition_errors
        if result.error_code == Errors.NONE.code
    }
