"""Collects what brokers must be told during a state change, so that each gets one request of each kind.

Kafka 0.10.2: core/.../controller/ControllerChannelManager.scala (ControllerBrokerRequestBatch) · book 7.1.7
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from kafka_lite.cluster.broker import Broker
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.state_change_logger import bracketed, state_change_logger
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_config import RequestVersion, request_version_of_0_10_2
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaResponse,
)
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.zookeeper.data import LEADER_DURING_DELETE, LeaderIsrAndControllerEpoch

FIRST_UPDATE_METADATA_BY_TOPIC, FIRST_LEADER_AND_ISR_BY_TOPIC = 5, 2
"""The first versions that have the partitions by topic."""

LeaderAndIsrCallback = Callable[[int, LeaderAndIsrResponse], None]
"""Takes a broker and its response."""

StopReplicaCallback = Callable[[Sequence[PartitionAndReplica], StopReplicaResponse], None]
OrderRequest = LeaderAndIsrRequest | StopReplicaRequest | UpdateMetadataRequest
Send = Callable[[int, Request, Callable[[Response], None] | None], None]


class _StopReplica(NamedTuple):
    replica: PartitionAndReplica
    delete: bool
    callback: StopReplicaCallback | None


class ControllerBrokerRequestBatch:
    """``new_batch``, then any number of ``add_…``, then ``send_requests_to_brokers``.

    The requests of 0.10.2 have the partitions in a flat list. Later ones have them by topic, with the topics' ids, and
    name the run of the broker that they are meant for.
    """

    def __init__(
        self,
        controller_id: int,
        context: ControllerContext,
        send: Send,
        partitions_to_be_deleted: Callable[[], Collection[TopicPartition]],
        inter_broker_listener_name: str = "PLAINTEXT",
        leader_and_isr_responded: LeaderAndIsrCallback = lambda _broker_id, _response: None,
        request_version: RequestVersion = request_version_of_0_10_2,
    ) -> None:
        """``leader_and_isr_responded`` gets each broker's responses to LeaderAndIsr, in the thread of its channel.

        ``request_version``: the version in which a request will be encoded, which decides on its layout.
        """
        self._controller_id = controller_id
        self._context = context
        self._queue = send
        self._partitions_to_be_deleted = partitions_to_be_deleted
        self._listener_name = inter_broker_listener_name
        self._leader_and_isr_responded = leader_and_isr_responded
        self._request_version = request_version
        self._clear()

    def _clear(self) -> None:
        self._leader_and_isr: dict[int, dict[TopicPartition, LeaderAndIsrPartitionState]] = {}
        self._stop_replica: dict[int, list[_StopReplica]] = {}
        self._metadata_brokers: set[int] = set()
        self._metadata_partitions: dict[TopicPartition, bool] = {}
        """Whether they are being deleted. Their states are added once, at the end: each replica adds its partition."""

    def new_batch(self) -> None:
        """Begin. Raises RuntimeError if the batch before was never sent: a state change would be lost."""
        if self._leader_and_isr or self._stop_replica or self._metadata_brokers:
            pending = (self._leader_and_isr, self._stop_replica, self._metadata_partitions)
            self._clear()
            raise RuntimeError(f"Controller to broker state change requests batch is not empty: {pending}")

    # ------------------------------------------------------------------------------------------------------------ add

    def add_leader_and_isr(
        self,
        broker_ids: Iterable[int],
        partition: TopicPartition,
        state: LeaderIsrAndControllerEpoch,
        replicas: list[int],
        *,
        is_new: bool = False,
    ) -> None:
        """Tell these brokers the leader of a partition, and all brokers what clients must know about it."""
        leader_and_isr = state.leader_and_isr
        message = LeaderAndIsrPartitionState(
            topic_name=partition.topic,
            partition_index=partition.partition,
            controller_epoch=state.controller_epoch,
            leader=leader_and_isr.leader,
            leader_epoch=leader_and_isr.leader_epoch,
            isr=list(leader_and_isr.isr),
            partition_epoch=leader_and_isr.zk_version,
            replicas=list(replicas),
            is_new=is_new,
        )
        for broker_id in broker_ids:
            if broker_id >= 0:
                self._leader_and_isr.setdefault(broker_id, {})[partition] = message
        self.add_update_metadata(self._context.live_or_shutting_down_broker_ids, [partition])

    def add_stop_replica(
        self, replica: PartitionAndReplica, *, delete: bool, callback: StopReplicaCallback | None = None
    ) -> None:
        """Tell a broker to stop (and delete) its replica."""
        if replica.replica >= 0:
            self._stop_replica.setdefault(replica.replica, []).append(_StopReplica(replica, delete, callback))

    def add_update_metadata(
        self, broker_ids: Iterable[int], partitions: Collection[TopicPartition] | None = None
    ) -> None:
        """Tell these brokers about these partitions (None: all), and about all that are to be deleted.

        Even without a partition, they learn which brokers are alive.
        """
        to_be_deleted = self._partitions_to_be_deleted()
        self._metadata_brokers.update(broker_id for broker_id in broker_ids if broker_id >= 0)
        for partition in self._context.partition_leadership_info if partitions is None else partitions:
            if partition not in to_be_deleted:
                self._add_metadata(partition, being_deleted=False)

    def _add_metadata(self, partition: TopicPartition, *, being_deleted: bool) -> None:
        if partition in self._context.partition_leadership_info:  # otherwise its leader has not been chosen yet
            self._metadata_partitions[partition] = being_deleted

    # ----------------------------------------------------------------------------------------------------------- send

    def send_requests_to_brokers(self) -> None:
        """Queue the requests. LeaderAndIsr is first: a leader must be ready when UpdateMetadata sends clients to it.

        Responses to LeaderAndIsr go to the ``_on_leader_and_isr_response`` of their broker.
        """
        for broker_id, states in self._leader_and_isr.items():
            if state_change_logger.is_tracing():
                self._trace_leader_and_isr(broker_id, states)
            self._send(broker_id, self._leader_and_isr_request(states), self._on_leader_and_isr_response(broker_id))
        if self._metadata_brokers:
            for partition in self._partitions_to_be_deleted():
                self._add_metadata(partition, being_deleted=True)
            if state_change_logger.is_tracing():
                self._trace_update_metadata()
            request = self._update_metadata_request()
            for broker_id in sorted(self._metadata_brokers):
                self._send(broker_id, request, None)
        for broker_id, stops in self._stop_replica.items():
            self._send_stop_replica(broker_id, stops)
        self._clear()

    def _send(self, broker_id: int, request: OrderRequest, callback: Callable[[Response], None] | None) -> None:
        """Queue a request with the epoch of its broker: one that has restarted since must not obey it."""
        epoch = self._context.broker_epochs.get(broker_id)
        if epoch is not None:
            request = copy.copy(request)
            request.broker_epoch = epoch
        self._queue(broker_id, request, callback)

    def _on_leader_and_isr_response(self, broker_id: int) -> Callable[[Response], None]:
        def on_response(response: Response) -> None:
            if isinstance(response, LeaderAndIsrResponse):
                self._leader_and_isr_responded(broker_id, response.by_topic_name(self._context.topic_names))

        return on_response

    def _trace_leader_and_isr(
        self, broker_id: int, states: Mapping[TopicPartition, LeaderAndIsrPartitionState]
    ) -> None:
        for partition, state in states.items():
            state_change_logger.trace(
                "Controller %d epoch %d sending %s LeaderAndIsr request %s to broker %d for partition %s",
                self._controller_id,
                self._context.epoch,
                "become-leader" if broker_id == state.leader else "become-follower",
                self._context.partition_leadership_info.get(partition),
                broker_id,
                bracketed(partition),
            )

    def _trace_update_metadata(self) -> None:
        for partition in sorted(self._metadata_partitions):
            state_change_logger.trace(
                "Controller %d epoch %d sending UpdateMetadata request %s to brokers %s for partition %s",
                self._controller_id,
                self._context.epoch,
                self._context.partition_leadership_info.get(partition),
                sorted(self._metadata_brokers),
                partition,
            )

    def _leader_and_isr_request(
        self, states: Mapping[TopicPartition, LeaderAndIsrPartitionState]
    ) -> LeaderAndIsrRequest:
        leader_ids = {state.leader for state in states.values()}
        leaders = [broker for broker_id, broker in self._context.live_brokers.items() if broker_id in leader_ids]
        request = LeaderAndIsrRequest(
            controller_id=self._controller_id,
            controller_epoch=self._context.epoch,
            live_leaders=[self._live_leader(broker) for broker in leaders],
        )
        if self._request_version(ApiKey.LEADER_AND_ISR) < FIRST_LEADER_AND_ISR_BY_TOPIC:
            request.ungrouped_partition_states = list(states.values())
        else:
            request.topic_states = self._states_by_topic(states)
        return request

    def _states_by_topic(
        self, states: Mapping[TopicPartition, LeaderAndIsrPartitionState]
    ) -> list[LeaderAndIsrTopicState]:
        """With the topics' ids, and with the reassignments that are in progress."""
        topics: dict[str, LeaderAndIsrTopicState] = {}
        for partition, state in states.items():
            topic = topics.get(partition.topic)
            if topic is None:
                topic_id = self._context.topic_ids.get(partition.topic, ZERO_UUID)
                topic = topics[partition.topic] = LeaderAndIsrTopicState(topic_name=partition.topic, topic_id=topic_id)
            change = self._context.partitions_being_reassigned.get(partition)
            if change is not None:
                state.adding_replicas = list(change.adding_replicas)
                state.removing_replicas = list(change.removing_replicas)
            topic.partition_states.append(state)
        return list(topics.values())

    def _live_leader(self, broker: Broker) -> LeaderAndIsrLiveLeader:
        end_point = broker.get_broker_end_point(self._listener_name)
        return LeaderAndIsrLiveLeader(broker_id=broker.id, host_name=end_point.host, port=end_point.port)

    def _update_metadata_request(self) -> UpdateMetadataRequest:
        states = [
            self._metadata_state(partition, being_deleted)
            for partition, being_deleted in sorted(self._metadata_partitions.items())
        ]
        request = UpdateMetadataRequest(
            controller_id=self._controller_id,
            controller_epoch=self._context.epoch,
            live_brokers=[_live_broker(broker) for _, broker in sorted(self._context.live_brokers.items())],
        )
        if self._request_version(ApiKey.UPDATE_METADATA) < FIRST_UPDATE_METADATA_BY_TOPIC:
            request.ungrouped_partition_states = states
        else:
            request.topic_states = [
                UpdateMetadataTopicState(
                    topic_name=topic,
                    topic_id=self._context.topic_ids.get(topic, ZERO_UUID),
                    partition_states=list(partitions),
                )
                for topic, partitions in groupby(states, key=lambda state: state.topic_name)
            ]
        return request

    def _metadata_state(self, partition: TopicPartition, being_deleted: bool) -> UpdateMetadataPartitionState:
        info = self._context.partition_leadership_info[partition]
        leader_and_isr = info.leader_and_isr
        replicas = list(self._context.partition_replica_assignment.get(partition, ()))
        return UpdateMetadataPartitionState(
            topic_name=partition.topic,
            partition_index=partition.partition,
            controller_epoch=info.controller_epoch,
            leader=LEADER_DURING_DELETE if being_deleted else leader_and_isr.leader,
            leader_epoch=leader_and_isr.leader_epoch,
            isr=list(leader_and_isr.isr),
            zk_version=leader_and_isr.zk_version,
            replicas=replicas,
            offline_replicas=[each for each in replicas if not self._context.has_log(each, partition)],
        )

    def _send_stop_replica(self, broker_id: int, stops: list[_StopReplica]) -> None:
        """One request for all that are only stopped, one for all that are deleted, as in Kafka since 2.3.

        0.10.2 sends a separate request for each replica that is deleted.
        """
        requests: dict[tuple[bool, StopReplicaCallback | None], list[_StopReplica]] = {}
        for stop in stops:
            requests.setdefault((stop.delete, stop.callback), []).append(stop)
        for (_, callback), together in sorted(requests.items(), key=lambda item: item[0][0]):
            on_response = None if callback is None else _respond_to(callback, [stop.replica for stop in together])
            self._send(broker_id, self._stop_replica_request(together), on_response)

    def _stop_replica_request(self, stops: list[_StopReplica]) -> StopReplicaRequest:
        partitions = [stop.replica.partition for stop in stops]
        return StopReplicaRequest(
            controller_id=self._controller_id,
            controller_epoch=self._context.epoch,
            delete_partitions=stops[0].delete,
            ungrouped_partitions=[
                StopReplicaPartitionV0(topic_name=p.topic, partition_index=p.partition) for p in partitions
            ],
        )


def _respond_to(callback: StopReplicaCallback, replicas: Sequence[PartitionAndReplica]) -> Callable[[Response], None]:
    def on_response(response: Response) -> None:
        if isinstance(response, StopReplicaResponse):
            callback(replicas, response)

    return on_response


def _live_broker(broker: Broker) -> UpdateMetadataBroker:
    return UpdateMetadataBroker(
        id=broker.id,
        endpoints=[
            UpdateMetadataEndpoint(
                port=e.port, host=e.host, listener=e.listener_name, security_protocol=e.security_protocol.id
            )
            for e in broker.end_points
        ],
        rack=broker.rack,
    )
