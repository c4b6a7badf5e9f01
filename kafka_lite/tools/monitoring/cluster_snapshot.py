"""The data of ``kafka-lite top --cluster``: brokers, leaders, ISRs, consumer groups; the display is elsewhere.

Kafka has no such tool; kafka-topics.sh and kafka-consumer-groups.sh show parts of it · book 1.2.3, 6.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kafka_lite.common.topic_names import is_internal
from kafka_lite.common.topic_partition import TopicPartition

NO_LEADER = -1


@dataclass(frozen=True)
class PartitionState:
    """A partition as the brokers' metadata has it, with its end offset, which is None if its leader does not respond.

    The end offset is what consumers can read: the high watermark.
    """

    partition: TopicPartition
    leader: int
    replicas: Sequence[int]
    isr: Sequence[int]
    end_offset: int | None = None

    @property
    def is_offline(self) -> bool:
        """Whether it has no leader."""
        return self.leader == NO_LEADER

    @property
    def out_of_sync(self) -> list[int]:
        """The replicas that are not in the ISR."""
        return [replica for replica in self.replicas if replica not in self.isr]

    @property
    def is_healthy(self) -> bool:
        """Whether it has a leader, and all replicas are in sync."""
        return not self.is_offline and not self.out_of_sync


@dataclass(frozen=True)
class GroupState:
    """A consumer group with its committed offsets."""

    name: str
    state: str
    offsets: Mapping[TopicPartition, int]


@dataclass(frozen=True)
class ClusterState:
    """The cluster as one round of requests found it. ``problems`` are the requests that failed."""

    cluster_id: str
    controller_id: int
    brokers: Mapping[int, str]
    """Id → host:port of the brokers that are alive."""
    partitions: Sequence[PartitionState]
    groups: Sequence[GroupState] = ()
    sizes: Mapping[int, int] = field(default_factory=dict)
    """Broker id → bytes in its logs."""
    problems: Sequence[str] = ()


@dataclass(frozen=True)
class BrokerRow:
    """One broker; ``address`` is None if it is not alive, but has replicas."""

    id: int
    address: str | None
    is_controller: bool
    leads: int
    preferred: int
    """Number of partitions of which it is the first, preferred, replica."""
    replicas: int
    out_of_sync: int
    size_bytes: int | None


@dataclass(frozen=True)
class PartitionRow:
    """One partition; the rate is in records per second, None in the first frame."""

    state: PartitionState
    rate: float | None


@dataclass(frozen=True)
class GroupRow:
    """One consumer group: records left to consume, records consumed per second; None: unknown."""

    name: str
    state: str
    lag: int | None
    rate: float | None


@dataclass(frozen=True)
class ClusterSnapshot:
    """Everything shown in one frame."""

    state: ClusterState
    brokers: list[BrokerRow]
    partitions: list[PartitionRow]
    """Partitions with a problem first, then by name. Healthy partitions of internal topics are left out."""
    hidden: int
    """Number of partitions that are left out of ``partitions``."""
    groups: list[GroupRow]
    under_replicated: int
    offline: int


def cluster_snapshot(state: ClusterState, before: ClusterState | None = None, over_s: float = 0) -> ClusterSnapshot:
    """The snapshot of ``state``, with rates since ``before``, which was ``over_s`` seconds earlier."""
    ends_before = {each.partition: each.end_offset for each in before.partitions} if before is not None else {}
    rows = [
        PartitionRow(each, _rate(each.end_offset, ends_before.get(each.partition), over_s)) for each in state.partitions
    ]
    shown = [row for row in rows if not (is_internal(row.state.partition.topic) and row.state.is_healthy)]
    shown.sort(key=lambda row: (*_urgency(row.state), row.state.partition))
    return ClusterSnapshot(
        state,
        _brokers(state),
        shown,
        len(rows) - len(shown),
        _groups(state, before, over_s),
        sum(bool(each.out_of_sync) for each in state.partitions),
        sum(each.is_offline for each in state.partitions),
    )


def _urgency(state: PartitionState) -> tuple[bool, bool, bool]:
    """Sorts offline partitions first, then under-replicated ones; those of internal topics after the others."""
    return not state.is_offline, state.is_healthy, is_internal(state.partition.topic)


def _brokers(state: ClusterState) -> list[BrokerRow]:
    """The brokers that are alive, and those that should be: they have replicas."""
    ids = state.brokers.keys() | {replica for each in state.partitions for replica in each.replicas}
    return [
        BrokerRow(
            broker_id,
            state.brokers.get(broker_id),
            broker_id == state.controller_id,
            leads=sum(each.leader == broker_id for each in state.partitions),
            preferred=sum(each.replicas[:1] == [broker_id] for each in state.partitions),
            replicas=sum(broker_id in each.replicas for each in state.partitions),
            out_of_sync=sum(broker_id in each.out_of_sync for each in state.partitions),
            size_bytes=state.sizes.get(broker_id),
        )
        for broker_id in sorted(ids)
    ]


def _groups(state: ClusterState, before: ClusterState | None, over_s: float) -> list[GroupRow]:
    """The groups, largest lag first."""
    ends = {each.partition: each.end_offset for each in state.partitions}
    earlier = {group.name: group.offsets for group in before.groups} if before is not None else {}
    rows = []
    for group in state.groups:
        lags = [None if (end := ends.get(p)) is None else max(end - offset, 0) for p, offset in group.offsets.items()]
        known = [lag for lag in lags if lag is not None]
        consumed = sum(group.offsets.values())
        consumed_before = sum(earlier[group.name].values()) if group.name in earlier else None
        lag = sum(known) if len(known) == len(lags) else None
        rows.append(GroupRow(group.name, group.state, lag, _rate(consumed, consumed_before, over_s)))
    return sorted(rows, key=lambda row: (-(row.lag or 0), row.name))


def _rate(now: int | None, before: int | None, over_s: float) -> float | None:
    if now is None or before is None or over_s <= 0:
        return None
    return max(now - before, 0) / over_s
