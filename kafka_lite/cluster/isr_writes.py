"""An ISR on its way to ZooKeeper.

Kafka 0.10.2: core/.../utils/ReplicationUtils.scala (updateLeaderAndIsr); Kafka 2.7: core/.../cluster/Partition.scala
(PendingExpandIsr, PendingShrinkIsr) · book 6.2.2
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum

from kafka_lite.cluster.replica import Replica
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch


class IsrChange(Enum):
    """Whether replicas enter the ISR or leave it; the value is the word that Kafka logs."""

    EXPAND = "Expanding"
    SHRINK = "Shrinking"


UpdateIsr = Callable[[TopicPartition, LeaderIsrAndControllerEpoch, IsrChange], int | None]
"""Writes leader and ISR to ZooKeeper if the znode still has their version; returns the new version.

Returns None if the controller has written since. The ISR then stays as it was; the controller's next request corrects
it.
"""

SubmitIsrWrite = Callable[[TopicPartition, Callable[[], bool]], bool]
"""Calls the write now and returns what it returns, or sees to it that another thread does, and returns False."""


def written_at_once(_topic_partition: TopicPartition, write: Callable[[], bool]) -> bool:
    """Write in the thread that asks: the ``SubmitIsrWrite`` of a partition without a broker around it."""
    return write()


@dataclass(frozen=True)
class PendingIsr:
    """An ISR that is being written, and those of it that were not in sync before."""

    replicas: frozenset[Replica]
    entering: frozenset[Replica]
    state: LeaderIsrAndControllerEpoch
    change: IsrChange


def broker_ids(replicas: Collection[Replica]) -> list[int]:
    """The ids of the replicas' brokers, sorted, as ZooKeeper and the log have them."""
    return sorted(replica.broker_id for replica in replicas)
