"""A client's view of the cluster at one moment: brokers, topics, partitions, leaders.

Kafka 0.10.2: clients/.../common/Cluster.java, Node.java, PartitionInfo.java · book 7.3.2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

from kafka_lite.common.topic_partition import TopicPartition


@dataclass(frozen=True)
class Node:
    """A broker and its address. Brokers from ``bootstrap.servers`` have negative ids, because their ids are not
    known."""

    id: int
    host: str
    port: int
    rack: str | None = field(default=None, hash=False)
    """Equal nodes have equal racks, but it is not hashed: up to Python 3.11 the hash of None is an address, so sets of
    nodes would have another order in each process."""

    @cached_property
    def id_string(self) -> str:
        """The id as a string, which names connections."""
        return str(self.id)

    def __str__(self) -> str:
        return f"{self.host}:{self.port} (id: {self.id} rack: {self.rack})"


@dataclass(frozen=True)
class PartitionInfo:
    """A partition and its replicas."""

    topic: str
    partition: int
    leader: Node | None
    """None if there is no leader, or if the client does not know that broker."""
    replicas: tuple[Node, ...] = ()
    in_sync_replicas: tuple[Node, ...] = ()
    leader_epoch: int = -1
    """The number of leader changes; -1 from brokers that do not report it, or not reliably."""

    @property
    def topic_partition(self) -> TopicPartition:
        """The topic and the partition number."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True)
class Cluster:
    """The contents of one Metadata response, indexed for clients. Immutable: an update creates a new one."""

    nodes: tuple[Node, ...] = ()
    partitions: tuple[PartitionInfo, ...] = ()
    cluster_id: str | None = None
    controller: Node | None = None
    unauthorized_topics: frozenset[str] = frozenset()
    invalid_topics: frozenset[str] = frozenset()
    internal_topics: frozenset[str] = frozenset()
    topic_ids: Mapping[str, UUID] = field(default_factory=dict, hash=False)
    """The ids of the topics that have one, and whose broker says it."""
    is_bootstrap_configured: bool = False
    """Whether this is only the list of ``bootstrap.servers``."""
    _by_partition: Mapping[TopicPartition, PartitionInfo] = field(init=False, repr=False, compare=False)
    _by_topic: Mapping[str, tuple[PartitionInfo, ...]] = field(init=False, repr=False, compare=False)
    _available: Mapping[str, tuple[PartitionInfo, ...]] = field(init=False, repr=False, compare=False)
    _by_leader: Mapping[int, tuple[PartitionInfo, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_topic: dict[str, list[PartitionInfo]] = {}
        by_leader: dict[int, list[PartitionInfo]] = {}
        for info in sorted(self.partitions, key=lambda each: (each.topic, each.partition)):
            by_topic.setdefault(info.topic, []).append(info)
            if info.leader is not None:
                by_leader.setdefault(info.leader.id, []).append(info)
        led = {topic: tuple(info for info in infos if info.leader) for topic, infos in by_topic.items()}
        # The only way to set a field of a frozen dataclass.
        object.__setattr__(self, "_by_partition", {info.topic_partition: info for info in self.partitions})
        object.__setattr__(self, "_by_topic", {topic: tuple(infos) for topic, infos in by_topic.items()})
        object.__setattr__(self, "_available", led)
        object.__setattr__(self, "_by_leader", {node: tuple(infos) for node, infos in by_leader.items()})

    @classmethod
    def bootstrap(cls, addresses: Sequence[tuple[str, int]]) -> Cluster:
        """A cluster of which only addresses are known. The brokers' ids are -1, -2, …"""
        nodes = tuple(Node(-number, host, port) for number, (host, port) in enumerate(addresses, 1))
        return cls(nodes, is_bootstrap_configured=True)

    def with_partitions_of(self, topics: Iterable[str]) -> Cluster:
        """This cluster with only these topics."""
        wanted = set(topics)
        return Cluster(
            self.nodes,
            tuple(info for info in self.partitions if info.topic in wanted),
            self.cluster_id,
            self.controller,
            self.unauthorized_topics & wanted,
            self.invalid_topics & wanted,
            self.internal_topics,
            {topic: topic_id for topic, topic_id in self.topic_ids.items() if topic in wanted},
        )

    @property
    def topics(self) -> frozenset[str]:
        """The names of the topics that have partitions."""
        return frozenset(self._by_topic)

    def leader_for(self, partition: TopicPartition) -> Node | None:
        """The partition's leader; None if the partition or its leader is not known."""
        info = self._by_partition.get(partition)
        return info.leader if info is not None else None

    def partition(self, partition: TopicPartition) -> PartitionInfo | None:
        """The partition; None if it is not known."""
        return self._by_partition.get(partition)

    def partitions_for_topic(self, topic: str) -> tuple[PartitionInfo, ...]:
        """The partitions of a topic by number; empty for an unknown topic."""
        return self._by_topic.get(topic, ())

    def available_partitions_for_topic(self, topic: str) -> tuple[PartitionInfo, ...]:
        """The partitions of a topic that have a leader."""
        return self._available.get(topic, ())

    def partitions_for_node(self, node_id: int) -> tuple[PartitionInfo, ...]:
        """The partitions that a broker leads."""
        return self._by_leader.get(node_id, ())

    def partition_count_for_topic(self, topic: str) -> int | None:
        """The number of partitions of a topic; None for an unknown topic."""
        infos = self._by_topic.get(topic)
        return None if infos is None else len(infos)
