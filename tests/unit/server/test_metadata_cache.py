from uuid import UUID

import pytest

from kafka_lite.clients.cluster import Node
from kafka_lite.common.errors import Errors
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from kafka_lite.server.metadata_cache import MetadataCache

P0 = TopicPartition("t", 0)


def broker(number, listener="PLAINTEXT"):
    end_point = UpdateMetadataEndpoint(host=f"host{number}", port=9092, listener=listener, security_protocol=0)
    return UpdateMetadataBroker(id=number, endpoints=[end_point], rack=f"r{number}")


def state(topic="t", partition=0, leader=1, isr=(1, 2), replicas=(1, 2, 3), epoch=0):
    return UpdateMetadataPartitionState(
        topic_name=topic,
        partition_index=partition,
        controller_epoch=1,
        leader=leader,
        leader_epoch=epoch,
        isr=list(isr),
        zk_version=0,
        replicas=list(replicas),
    )


def request(*states, brokers=(1, 2, 3), controller_id=1):
    live = [b if isinstance(b, UpdateMetadataBroker) else broker(b) for b in brokers]
    return UpdateMetadataRequest(
        controller_id=controller_id, controller_epoch=1, ungrouped_partition_states=list(states), live_brokers=live
    )


@pytest.fixture
def cache():
    cache = MetadataCache(1)
    cache.update_cache(request(state(), state("u", leader=2)))
    return cache


def test_partitions_are_merged_and_brokers_replaced(cache):
    cache.update_cache(request(state(leader=2, isr=(2,), epoch=1), brokers=(2, 3), controller_id=2))
    assert cache.get_partition_info(P0).leader == 2
    assert cache.get_partition_info(TopicPartition("u", 0)).leader == 2
    assert [b.id for b in cache.get_alive_brokers()] == [2, 3]
    assert cache.controller_id == 2
    assert cache.get_all_topics() == ["t", "u"]


def test_an_older_leader_epoch_is_accepted_too(cache):
    cache.update_cache(request(state(leader=2, epoch=5)))
    cache.update_cache(request(state(leader=3, epoch=4)))
    assert cache.get_partition_info(P0).leader == 3


def test_leader_minus_2_deletes_the_partition(cache):
    assert cache.update_cache(request(state(leader=-2))) == [P0]
    assert not cache.contains("t")
    assert cache.contains("u")
    assert cache.update_cache(request(state(leader=-2))) == [P0]


def test_a_snapshot_does_not_change(cache):
    before = cache.snapshot
    cache.update_cache(request(state(leader=-2)))
    assert "t" in before.partitions


def test_requests_grouped_by_topic(cache):
    grouped = request(brokers=(1,))
    nameless = state(topic="", partition=4)
    grouped.topic_states = [UpdateMetadataTopicState(topic_name="v", partition_states=[nameless])]
    cache.update_cache(grouped)
    assert cache.get_partition_info(TopicPartition("v", 4)) is not None


def with_ids(*topics):
    """A request of version 7 about topics, each given as name, number of its id, and leader."""
    grouped = request()
    grouped.topic_states = [
        UpdateMetadataTopicState(
            topic_name=name, topic_id=UUID(int=number), partition_states=[state("", leader=leader)]
        )
        for name, number, leader in topics
    ]
    return grouped


def ids(cache):
    numbers = {name: topic_id.int for name, topic_id in cache.snapshot.topic_ids.items()}
    assert {number: name for name, number in numbers.items()} == {
        topic_id.int: name for topic_id, name in cache.snapshot.topic_names.items()
    }
    return numbers


def test_topics_have_ids(cache):
    cache.update_cache(with_ids(("t", 7, 1), ("v", 8, 1)))
    assert ids(cache) == {"t": 7, "v": 8}
    assert (cache.topic_id("t"), cache.topic_id("u"), cache.topic_id("nope")) == (UUID(int=7), None, None)
    assert (cache.topic_name(UUID(int=8)), cache.topic_name(UUID(int=9))) == ("v", None)
    told = cache.get_topic_metadata(["t", "u"], "PLAINTEXT")
    assert [topic.topic_id.int for topic in told] == [7, 0]


def test_ids_are_not_copied_for_a_change_of_leaders(cache):
    cache.update_cache(with_ids(("t", 7, 1)))
    before = cache.snapshot.topic_ids
    cache.update_cache(with_ids(("t", 7, 2)))
    assert cache.snapshot.topic_ids is before


def test_a_topic_made_again_has_another_id(cache):
    cache.update_cache(with_ids(("t", 7, 1)))
    cache.update_cache(with_ids(("t", 7, -2)))
    assert (ids(cache), cache.topic_name(UUID(int=7))) == ({}, None)
    cache.update_cache(with_ids(("t", 8, 1)))
    assert ids(cache) == {"t": 8}
    cache.update_cache(with_ids(("t", 9, 1)))
    assert ids(cache) == {"t": 9}, "its deletion may have been missed"


def test_an_old_controller_takes_the_ids_of_its_topics_away(cache):
    cache.update_cache(with_ids(("t", 7, 1), ("v", 8, 1)))
    cache.update_cache(request(state("v")))
    assert ids(cache) == {"t": 7}


def test_broker_addresses_from_old_controllers():
    cache = MetadataCache(1)
    old = UpdateMetadataBroker(id=1, v0_host="h", v0_port=9092)
    unnamed = UpdateMetadataBroker(id=2, endpoints=[UpdateMetadataEndpoint(host="h2", port=1, security_protocol=1)])
    cache.update_cache(request(brokers=(old, unnamed)))
    assert str(cache.get_alive_broker(1).get_end_point("PLAINTEXT")) == "PLAINTEXT://h:9092"
    assert cache.get_alive_broker(2).get_end_point("SSL").security_protocol is SecurityProtocol.SSL


def described(cache, **kwargs):
    (topic,) = cache.get_topic_metadata(["t"], "PLAINTEXT", **kwargs)
    (partition,) = topic.partitions
    return Errors.for_code(partition.error_code), partition


def test_metadata_for_clients(cache):
    error, partition = described(cache)
    assert error is Errors.NONE
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (1, [1, 2, 3], [1, 2])
    assert partition.offline_replicas == []
    assert cache.get_topic_metadata(["nope"], "PLAINTEXT") == []
    assert [t.name for t in cache.get_topic_metadata(None, "PLAINTEXT")] == ["t", "u"]


def test_a_dead_leader_is_leader_not_available(cache):
    cache.update_cache(request(brokers=(2, 3)))
    error, partition = described(cache)
    assert error is Errors.LEADER_NOT_AVAILABLE
    assert partition.leader_id == -1
    assert partition.offline_replicas == [1]


def test_a_leader_without_the_listener_is_listener_not_found(cache):
    cache.update_cache(request(brokers=(broker(1, "OTHER"), 2, 3)))
    assert described(cache)[0] is Errors.LISTENER_NOT_FOUND


def test_dead_replicas_are_an_error_only_in_version_0(cache):
    cache.update_cache(request(brokers=(1, 3)))
    error, partition = described(cache)
    assert error is Errors.NONE
    assert (partition.replica_nodes, partition.isr_nodes, partition.offline_replicas) == ([1, 2, 3], [1, 2], [2])
    error, partition = described(cache, error_unavailable_endpoints=True)
    assert error is Errors.REPLICA_NOT_AVAILABLE
    assert (partition.replica_nodes, partition.isr_nodes) == ([1, 3], [1])


def test_the_cluster_has_the_addresses_of_one_listener(cache):
    """As Kafka's: dead brokers, and those without the listener, are nodes without an address."""
    cache.update_cache(
        request(state("__consumer_offsets", leader=3, isr=(3,), replicas=(3, 1)), brokers=(1, broker(3, "I")))
    )
    cluster = cache.get_cluster_metadata("id", "PLAINTEXT")
    assert (cluster.cluster_id, cluster.controller) == ("id", Node(1, "host1", 9092, "r1"))
    assert cluster.nodes == (Node(1, "host1", 9092, "r1"),)
    assert cluster.topics == {"t", "u", "__consumer_offsets"}
    assert cluster.internal_topics == {"__consumer_offsets"}
    info = cluster.partition(TopicPartition("__consumer_offsets", 0))
    assert (info.leader, info.replicas) == (Node(3, "", -1), (Node(3, "", -1), Node(1, "host1", 9092, "r1")))
    cache.update_cache(request(state(leader=-2)))
    assert cache.get_cluster_metadata("id", "PLAINTEXT").topics == {"u", "__consumer_offsets"}
