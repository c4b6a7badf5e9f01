"""The broker that a partition is read from: the leader, or for a while the follower that it prefers (KIP-392)."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.fetcher_metrics import GROUP, FetchManagerMetrics
from kafka_lite.consumer.offset_and_metadata import OffsetResetStrategy
from kafka_lite.consumer.read_replicas import ReadReplicas
from kafka_lite.consumer.subscription_state import SubscriptionState
from kafka_lite.metrics.metrics import Metrics

TP = TopicPartition("orders", 0)
LEADER, FOLLOWER = Node(0, "a", 1), Node(1, "b", 2)
LEASE_MS = 1000


class Reading:
    """A partition with a leader and a follower, and where it is read."""

    def __init__(self) -> None:
        self.time, self.replicas = MockTime(), [LEADER, FOLLOWER]
        self.updates_wanted = 0
        self.subscriptions = SubscriptionState(OffsetResetStrategy.EARLIEST)
        self.subscriptions.assign_from_user([TP])
        self.metrics = Metrics(time=self.time)
        metrics = FetchManagerMetrics(self.metrics)
        metrics.update_assignment(frozenset({TP}))
        self.read_replicas = ReadReplicas(self.subscriptions, cast(Any, self), metrics, LEASE_MS, self.time)

    def fetch(self) -> Cluster:
        return Cluster((LEADER, FOLLOWER), (PartitionInfo("orders", 0, LEADER, tuple(self.replicas)),))

    def request_update(self) -> None:
        self.updates_wanted += 1

    @property
    def node(self) -> Node:
        return self.read_replicas.node_of(TP, LEADER)

    @property
    def metric(self) -> object:
        name = self.metrics.metric_name("preferred-read-replica", GROUP, "", {"topic": "orders", "partition": "0"})
        return self.metrics.metrics[name].value


@pytest.fixture
def reading() -> Reading:
    return Reading()


def test_a_partition_is_read_from_its_leader_until_that_prefers_another(reading: Reading) -> None:
    assert (reading.node, reading.metric) == (LEADER, -1)
    reading.read_replicas.prefer(TP, FOLLOWER.id)
    assert (reading.node, reading.metric) == (FOLLOWER, 1)


def test_the_lease_ends_and_the_same_answer_does_not_extend_it(reading: Reading) -> None:
    reading.read_replicas.prefer(TP, FOLLOWER.id)
    reading.time.sleep(LEASE_MS - 1)
    reading.read_replicas.prefer(TP, FOLLOWER.id)
    assert reading.node == FOLLOWER
    reading.time.sleep(2)
    assert (reading.node, reading.metric) == (LEADER, -1)
    reading.read_replicas.prefer(TP, FOLLOWER.id)
    assert reading.node == FOLLOWER


def test_a_replica_that_is_not_known_any_more_is_not_read(reading: Reading) -> None:
    reading.read_replicas.prefer(TP, FOLLOWER.id)
    reading.replicas.remove(FOLLOWER)
    assert (reading.node, reading.updates_wanted) == (LEADER, 1)
    reading.replicas.append(FOLLOWER)
    assert reading.node == LEADER, "the leader must say so again"


def test_clearing_says_whether_a_follower_was_read(reading: Reading) -> None:
    assert not reading.read_replicas.clear(TP)
    reading.read_replicas.prefer(TP, FOLLOWER.id)
    assert reading.read_replicas.clear(TP)
    assert reading.node == LEADER


def test_a_partition_that_was_revoked_is_forgotten(reading: Reading) -> None:
    reading.read_replicas.prefer(TP, FOLLOWER.id)
    reading.subscriptions.unsubscribe()
    reading.read_replicas.prefer(TP, FOLLOWER.id)
    assert (reading.node, reading.read_replicas.clear(TP)) == (LEADER, False)
    reading.subscriptions.assign_from_user([TP])
    assert reading.node == LEADER
