"""A broker's view of the cluster: live brokers, and leader, ISR and replicas of every partition.

Kafka 0.10.2: core/.../server/MetadataCache.scala · book 7.3.1
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.common.state_change_logger import state_change_logger
from kafka_lite.common.topic_names import is_internal
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponsePartition, MetadataResponseTopic
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from kafka_lite.zookeeper.data import LEADER_DURING_DELETE


class PartitionStateInfo(NamedTuple):
    """A partition's state in the controller's last request."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    controller_epoch: int
    zk_version: int
    offline_replicas: tuple[int, ...] = ()


@dataclass(frozen=True)
class MetadataSnapshot:
    """One state of the cache. It is replaced and never changed, so readers need no lock."""

    partitions: Mapping[str, Mapping[int, PartitionStateInfo]] = field(default_factory=dict)
    alive_brokers: Mapping[int, Broker] = field(default_factory=dict)
    controller_id: int | None = None
    topic_ids: Mapping[str, UUID] = field(default_factory=dict)
    topic_names: Mapping[UUID, str] = field(default_factory=dict)
    """The same the other way round. A topic has no id if the controller has not sent one."""


class MetadataCache:
    """The same on every broker, with a small delay: the controller sends UpdateMetadata after every change.

    The cache has no other source. A new topic appears only after the controller has elected its leaders, which is why
    clients first get LEADER_NOT_AVAILABLE.
    """

    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id
        self._snapshot = MetadataSnapshot()
        self._changed = threading.Condition()

    # ---------------------------------------------------------------------------------------------------------- write

    def update_cache(self, request: UpdateMetadataRequest) -> list[TopicPartition]:
        """Replace the live brokers and merge the partitions of a request; returns the partitions that it deletes.

        Leader epochs are not compared: during a reassignment the controller may send an earlier state.
        """
        with self._changed:
            topics = {topic: dict(partitions) for topic, partitions in self._snapshot.partitions.items()}
            deleted = []
            for partition, state in request.partition_states():
                if state.leader == LEADER_DURING_DELETE:
                    _remove(topics, partition)
                    deleted.append(partition)
                else:
                    topics.setdefault(partition.topic, {})[partition.partition] = _state_info(state)
            brokers = {broker.id: _broker(broker) for broker in request.live_brokers}
            controller_id = request.controller_id if request.controller_id >= 0 else None
            ids, names = _merged_ids(self._snapshot, topics, request)
            self._snapshot = MetadataSnapshot(topics, brokers, controller_id, ids, names)
            self._changed.notify_all()
        if state_change_logger.is_tracing():
            self._trace(request)
        return deleted

    def _trace(self, request: UpdateMetadataRequest) -> None:
        for partition, state in request.partition_states():
            if state.leader == LEADER_DURING_DELETE:
                what = f"deleted partition {partition} from metadata cache"
            else:
                what = f"cached leader info {_state_info(state)} for partition {partition}"
            state_change_logger.trace(
                "Broker %d %s in response to UpdateMetadata request sent by controller %d epoch %d",
                self._broker_id,
                what,
                request.controller_id,
                request.controller_epoch,
            )

    def await_snapshot(self, condition: Callable[[MetadataSnapshot], bool], timeout_s: float) -> bool:
        """Wait until ``condition`` is true, checking it after each update; False after ``timeout_s``."""
        with self._changed:
            return self._changed.wait_for(lambda: condition(self._snapshot), timeout_s)

    # ----------------------------------------------------------------------------------------------------------- read

    @property
    def snapshot(self) -> MetadataSnapshot:
        """The whole current state."""
        return self._snapshot

    @property
    def controller_id(self) -> int | None:
        """The controller that sent the last update."""
        return self._snapshot.controller_id

    def get_all_topics(self) -> list[str]:
        """The names of all topics."""
        return list(self._snapshot.partitions)

    def contains(self, topic: str) -> bool:
        """Whether the topic is known."""
        return topic in self._snapshot.partitions

    def topic_id(self, topic: str) -> UUID | None:
        """The id of a topic; None if it has none, or is unknown."""
        return self._snapshot.topic_ids.get(topic)

    def topic_name(self, topic_id: UUID) -> str | None:
        """The name of the topic with this id."""
        return self._snapshot.topic_names.get(topic_id)

    def get_partition_info(self, partition: TopicPartition) -> PartitionStateInfo | None:
        """Leader, ISR and replicas of a partition."""
        return self._snapshot.partitions.get(partition.topic, {}).get(partition.partition)

    def get_partitions(self, topic: str) -> Mapping[int, PartitionStateInfo]:
        """All partitions of a topic."""
        return self._snapshot.partitions.get(topic, {})

    def get_alive_brokers(self) -> list[Broker]:
        """The brokers that are registered, sorted by id."""
        return [broker for _, broker in sorted(self._snapshot.alive_brokers.items())]

    def has_alive_brokers(self) -> bool:
        """Whether the controller has named any broker."""
        return bool(self._snapshot.alive_brokers)

    def get_alive_broker(self, broker_id: int) -> Broker | None:
        """A registered broker."""
        return self._snapshot.alive_brokers.get(broker_id)

    def get_cluster_metadata(self, cluster_id: str, listener_name: str) -> Cluster:
        """The whole cluster by the addresses of one listener, without topics that are being deleted.

        A broker that is dead, or lacks the listener, has no address: an empty host, and port -1.
        """
        snapshot = self._snapshot
        end_points = ((id, broker.get_end_point(listener_name)) for id, broker in snapshot.alive_brokers.items())
        nodes = {id: Node(id, end.host, end.port, snapshot.alive_brokers[id].rack) for id, end in end_points if end}

        def node(id: int) -> Node:
            return nodes.get(id) or Node(id, "", -1)

        partitions = tuple(
            PartitionInfo(
                topic,
                number,
                node(state.leader),
                tuple(map(node, state.replicas)),
                tuple(map(node, state.isr)),
                state.leader_epoch,
            )
            for topic, states in snapshot.partitions.items()
            for number, state in states.items()
        )
        controller = None if snapshot.controller_id is None else nodes.get(snapshot.controller_id)
        internal = frozenset(filter(is_internal, snapshot.partitions))
        return Cluster(tuple(nodes.values()), partitions, cluster_id, controller, internal_topics=internal)

    def get_topic_metadata(
        self, topics: Iterable[str] | None, listener_name: str, *, error_unavailable_endpoints: bool = False
    ) -> list[MetadataResponseTopic]:
        """These topics (None: all) as a client that is connected to ``listener_name`` sees them.

        Unknown topics are left out. A partition whose leader is dead has the error LEADER_NOT_AVAILABLE; one whose
        leader is alive but lacks that listener, LISTENER_NOT_FOUND. ``error_unavailable_endpoints`` is for version 0 of
        the request: dead replicas are left out, with the error REPLICA_NOT_AVAILABLE.
        """
        snapshot = self._snapshot
        names = snapshot.partitions if topics is None else dict.fromkeys(topics)
        described = []
        for name in names:
            if name in snapshot.partitions:
                partitions = [
                    _describe(snapshot, number, info, listener_name, error_unavailable_endpoints)
                    for number, info in sorted(snapshot.partitions[name].items())
                ]
                topic_id = snapshot.topic_ids.get(name, ZERO_UUID)
                described.append(MetadataResponseTopic(name=name, topic_id=topic_id, partitions=partitions))
        return described


def _merged_ids(
    before: MetadataSnapshot, topics: Container[str], request: UpdateMetadataRequest
) -> tuple[Mapping[str, UUID], Mapping[UUID, str]]:
    """The ids by name, and the names by id, of the ``topics`` that are left after a request.

    A request of an old controller has no ids, so that its topics lose theirs: they may have been deleted and made
    again, unnoticed, while it was the controller.
    """
    told = request.topic_ids()
    news = {topic: topic_id for topic, topic_id in told.items() if topic_id != ZERO_UUID and topic in topics}
    gone = [topic for topic in told if topic in before.topic_ids and topic not in news]
    if not gone and all(before.topic_ids.get(topic) == topic_id for topic, topic_id in news.items()):
        return before.topic_ids, before.topic_names  # usually only leaders have changed
    ids = {topic: topic_id for topic, topic_id in before.topic_ids.items() if topic not in gone} | news
    return ids, {topic_id: topic for topic, topic_id in ids.items()}


def _remove(topics: dict[str, dict[int, PartitionStateInfo]], partition: TopicPartition) -> None:
    partitions = topics.get(partition.topic, {})
    partitions.pop(partition.partition, None)
    if not partitions:
        topics.pop(partition.topic, None)


def _state_info(state: UpdateMetadataPartitionState) -> PartitionStateInfo:
    return PartitionStateInfo(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=tuple(state.isr),
        replicas=tuple(state.replicas),
        controller_epoch=state.controller_epoch,
        zk_version=state.zk_version,
        offline_replicas=tuple(state.offline_replicas),
    )


def _broker(broker: UpdateMetadataBroker) -> Broker:
    """A broker in versions 1 and up (version 0 had only one host and port; versions 1 and 2 no listener names)."""
    if not broker.endpoints:
        end_point = EndPoint(broker.v0_host, broker.v0_port, "PLAINTEXT", SecurityProtocol.PLAINTEXT)
        return Broker(broker.id, (end_point,), broker.rack)
    end_points = []
    for e in broker.endpoints:
        protocol = SecurityProtocol.for_id(e.security_protocol)
        end_points.append(EndPoint(e.host, e.port, e.listener or protocol.name, protocol))
    return Broker(broker.id, tuple(end_points), broker.rack)


def _describe(
    snapshot: MetadataSnapshot, number: int, info: PartitionStateInfo, listener_name: str, hide_dead: bool
) -> MetadataResponsePartition:
    alive = snapshot.alive_brokers
    dead = [replica for replica in info.replicas if replica not in alive]
    error = _leader_error(snapshot, info, listener_name)
    if hide_dead and dead and error is Errors.NONE:
        error = Errors.REPLICA_NOT_AVAILABLE
    return MetadataResponsePartition(
        error_code=error.code,
        partition_index=number,
        leader_id=info.leader if info.leader in alive else -1,
        leader_epoch=info.leader_epoch,
        replica_nodes=[replica for replica in info.replicas if not hide_dead or replica in alive],
        isr_nodes=[member for member in info.isr if not hide_dead or member in alive],
        offline_replicas=sorted({*dead, *info.offline_replicas}),
    )


def _leader_error(snapshot: MetadataSnapshot, info: PartitionStateInfo, listener_name: str) -> Errors:
    leader = snapshot.alive_brokers.get(info.leader)
    if leader is None:
        return Errors.LEADER_NOT_AVAILABLE
    return Errors.LISTENER_NOT_FOUND if leader.get_end_point(listener_name) is None else Errors.NONE
