"""A client's view of the cluster: found by partition, topic and broker, and never changed."""

from __future__ import annotations

import dataclasses

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.topic_partition import TopicPartition

ONE, TWO = Node(1, "one", 9092), Node(2, "two", 9092, "rack")
CLUSTER = Cluster(
    (ONE, TWO),
    (
        PartitionInfo("t", 1, TWO, (ONE, TWO), (TWO,), 5),
        PartitionInfo("t", 0, ONE),
        PartitionInfo("t", 2, None),
        PartitionInfo("u", 0, ONE),
    ),
    "id",
    TWO,
    unauthorized_topics=frozenset({"secret", "t"}),
    invalid_topics=frozenset({"?"}),
    internal_topics=frozenset({"__consumer_offsets"}),
)


def test_a_set_of_nodes_has_the_same_order_in_every_process() -> None:
    """So that a run of the simulator can be repeated: the hash of None is an address."""
    assert hash(Node(1, "kafka", 9092)) == hash((1, "kafka", 9092))
    assert Node(1, "kafka", 9092) != Node(1, "kafka", 9092, "rack")


def test_a_node_prints_its_address_and_names_its_connections() -> None:
    assert str(TWO) == "two:9092 (id: 2 rack: rack)"
    assert TWO.id_string == "2"


def test_partitions_of_a_topic_are_sorted_by_number() -> None:
    assert [info.partition for info in CLUSTER.partitions_for_topic("t")] == [0, 1, 2]
    assert CLUSTER.partitions_for_topic("nowhere") == ()
    assert CLUSTER.topics == {"t", "u"}


def test_a_partition_without_a_leader_is_known_but_not_available() -> None:
    lost = TopicPartition("t", 2)
    assert CLUSTER.leader_for(lost) is None
    assert CLUSTER.partition(lost) is not None
    assert [info.partition for info in CLUSTER.available_partitions_for_topic("t")] == [0, 1]
    assert CLUSTER.available_partitions_for_topic("nowhere") == ()


def test_an_unknown_partition_is_nothing() -> None:
    unknown = TopicPartition("t", 3)
    assert CLUSTER.leader_for(unknown) is None
    assert CLUSTER.partition(unknown) is None


def test_a_topic_that_is_unknown_is_not_one_without_partitions() -> None:
    assert CLUSTER.partition_count_for_topic("t") == 3
    assert CLUSTER.partition_count_for_topic("nowhere") is None


def test_a_broker_leads_partitions_of_several_topics() -> None:
    assert [str(info.topic_partition) for info in CLUSTER.partitions_for_node(1)] == ["t-0", "u-0"]
    assert CLUSTER.partitions_for_node(3) == ()


def test_the_leader_of_a_partition_has_its_epoch() -> None:
    info = CLUSTER.partition(TopicPartition("t", 1))
    assert info is not None
    assert (info.leader, info.leader_epoch, info.in_sync_replicas) == (TWO, 5, (TWO,))
    assert CLUSTER.partitions_for_topic("u")[0].leader_epoch == -1


def test_bootstrap_servers_have_negative_ids_and_no_topics() -> None:
    cluster = Cluster.bootstrap([("one", 9092), ("two", 9093)])
    assert [(node.id, node.host, node.port) for node in cluster.nodes] == [(-1, "one", 9092), (-2, "two", 9093)]
    assert cluster.is_bootstrap_configured
    assert cluster.topics == frozenset()


def test_a_cluster_of_some_topics_keeps_all_brokers() -> None:
    some = CLUSTER.with_partitions_of(["u", "secret", "nowhere"])
    assert some.topics == {"u"}
    assert (some.nodes, some.cluster_id, some.controller) == (CLUSTER.nodes, "id", TWO)
    assert (some.unauthorized_topics, some.invalid_topics) == ({"secret"}, frozenset())
    assert some.internal_topics == CLUSTER.internal_topics


def test_clusters_are_equal_by_what_they_know_and_cannot_be_changed() -> None:
    assert CLUSTER.with_partitions_of(["t"]) == CLUSTER.with_partitions_of(["t", "nowhere"])
    assert CLUSTER.with_partitions_of(["t"]) != CLUSTER
    with pytest.raises(dataclasses.FrozenInstanceError):
        CLUSTER.cluster_id = "other"  # type: ignore[misc]
