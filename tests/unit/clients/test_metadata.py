"""When metadata is updated, waiting for updates, and the topics of interest."""

from __future__ import annotations

import threading
from dataclasses import replace
from uuid import UUID

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.clients.metadata import NEWEST_LEADER_MS, TOPIC_EXPIRY_MS, Metadata
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.authentication_error import SaslAuthenticationError
from tests.support.patience import patient_s

NODES = (Node(0, "a", 1), Node(1, "b", 2))
T0 = TopicPartition("t", 0)


def cluster(*topics: str) -> Cluster:
    return Cluster(NODES, tuple(PartitionInfo(topic, 0, NODES[0]) for topic in topics), cluster_id="c")


def test_an_update_is_due_if_requested_or_old_but_not_within_the_backoff() -> None:
    metadata = Metadata(100, 1000, time=MockTime())
    assert metadata.time_to_next_update(0) == 0
    metadata.update(cluster(), 0)
    assert metadata.time_to_next_update(0) == 1000
    assert metadata.time_to_next_update(400) == 600
    metadata.request_update()
    assert metadata.time_to_next_update(0) == 100
    assert metadata.time_to_next_update(100) == 0
    metadata.failed_update(150)
    assert metadata.time_to_next_update(150) == 100
    metadata.add("new")
    assert metadata.time_to_next_update(150) == 0, "a new topic does not wait for the backoff"


def test_await_update_returns_with_a_newer_version() -> None:
    metadata = Metadata()
    before = metadata.request_update()
    waiter = threading.Thread(target=metadata.await_update, args=(before, 10_000))
    waiter.start()
    metadata.update(cluster("t"), 0)
    waiter.join(patient_s(60))
    assert not waiter.is_alive()
    metadata.await_update(before, 0)  # already present


def test_await_update_times_out() -> None:
    metadata = Metadata(time=MockTime())
    with pytest.raises(ApiError, match="after 500 ms"):
        metadata.await_update(metadata.request_update(), 500)


def test_a_timeout_says_which_brokers_do_not_respond_as_long_as_none_has() -> None:
    metadata = Metadata(time=MockTime())
    metadata.update(Cluster.bootstrap([("h", 1), ("i", 2)]), 0)
    with pytest.raises(ApiError, match=r"after 5 ms\. No broker has responded yet: is one running at h:1, i:2\?"):
        metadata.await_update(metadata.request_update(), 5)
    metadata.update(cluster("t"), 0)
    with pytest.raises(ApiError, match=r"after 5 ms\.$"):
        metadata.await_update(metadata.request_update(), 5)


def test_await_update_raises_a_fatal_error() -> None:
    metadata = Metadata()
    metadata.fail(PermissionError("no"))
    with pytest.raises(PermissionError):
        metadata.await_update(metadata.request_update(), 500)


def test_await_update_raises_a_failed_authentication_until_the_next_update() -> None:
    metadata = Metadata()
    error = SaslAuthenticationError("wrong password")
    metadata.authentication_failed(error)
    with pytest.raises(SaslAuthenticationError):
        metadata.await_update(metadata.request_update(), 500)
    assert metadata.authentication_error is error
    metadata.update(cluster(), 0)
    metadata.raise_authentication_error()
    assert metadata.authentication_error is None


def test_a_producer_forgets_unused_topics() -> None:
    metadata = Metadata(topic_expiry_enabled=True)
    metadata.add("used")
    metadata.add("unused")
    metadata.update(cluster(), 0)
    metadata.add("used")
    metadata.update(cluster(), TOPIC_EXPIRY_MS - 1)
    assert metadata.topics() == {"used", "unused"}
    metadata.update(cluster(), TOPIC_EXPIRY_MS)
    assert metadata.topics() == {"used"}


def test_set_topics_requests_an_update_only_for_new_topics() -> None:
    metadata = Metadata()
    metadata.update(cluster(), 0)
    metadata.set_topics(["a", "b"])
    assert metadata.update_requested
    metadata.update(cluster(), 0)
    metadata.set_topics(["a"])
    assert not metadata.update_requested, "fewer topics need no update"
    assert metadata.topics() == {"a"}


def test_only_the_first_wish_for_all_topics_requests_an_update() -> None:
    metadata = Metadata()
    for expected in (True, False):
        metadata.set_need_metadata_for_all_topics(True)
        assert metadata.update_requested is expected
        metadata.update(cluster(), 0)


def test_a_pattern_sees_all_topics() -> None:
    metadata = Metadata()
    metadata.set_need_metadata_for_all_topics(True)
    seen = []

    def subscribe(all_topics: Cluster) -> None:
        seen.append(all_topics.topics)
        metadata.set_topics(topic for topic in all_topics.topics if topic.startswith("x"))

    metadata.add_listener(subscribe)
    metadata.update(cluster("x1", "x2", "y"), 0)
    assert seen == [{"x1", "x2", "y"}]
    assert metadata.fetch().topics == {"x1", "x2"}
    assert not metadata.update_requested
    metadata.remove_listener(subscribe)
    metadata.update(cluster("x1"), 0)
    assert len(seen) == 1


def led(leader: int, epoch: int, nodes: tuple[Node, ...] = NODES, *, controller: Node | None = NODES[0]) -> Cluster:
    partition = PartitionInfo("t", 0, NODES[leader], NODES, leader_epoch=epoch)
    return Cluster(nodes, (partition,), controller=controller)


def test_a_leader_of_an_older_epoch_replaces_none_of_a_newer_one() -> None:
    metadata = Metadata()
    metadata.update(led(0, 4), 0)
    metadata.update(led(1, 5), 0)
    metadata.update(led(0, 4), 0)
    assert metadata.fetch().leader_for(T0) == NODES[1]
    metadata.update(led(0, 4, NODES[:1]), 0)
    info = metadata.fetch().partition(T0)
    assert info is not None
    assert info.leader is None, "the newer leader is not listed"
    assert info.leader_epoch == 5
    moved = Node(1, "elsewhere", 2)
    metadata.update(led(0, 4, (NODES[0], moved)), 0)
    assert metadata.fetch().leader_for(T0) == moved
    metadata.update(led(0, 6), 0)
    assert metadata.fetch().leader_for(T0) == NODES[0]


def test_brokers_without_epochs_are_believed() -> None:
    metadata = Metadata()
    metadata.update(led(1, 5), 0)
    metadata.update(led(0, -1), 0)
    assert metadata.fetch().leader_for(T0) == NODES[0]


def test_a_topic_that_was_deleted_may_start_over_with_older_epochs() -> None:
    metadata = Metadata()
    metadata.update(led(1, 5), 0)
    metadata.update(Cluster(NODES, controller=NODES[0]), 0)
    metadata.update(led(0, 0), 0)
    assert metadata.fetch().leader_for(T0) == NODES[0]


def test_a_topic_with_another_id_is_another_topic_and_starts_over() -> None:
    metadata = Metadata()
    metadata.update(replace(led(1, 5), topic_ids={"t": UUID(int=1)}), 0)
    metadata.update(replace(led(0, 4), topic_ids={"t": UUID(int=1)}), 0)
    assert metadata.fetch().leader_for(T0) == NODES[1], "of the same topic, an older epoch is not believed"
    metadata.update(replace(led(0, 0), topic_ids={"t": UUID(int=2)}), 0)
    assert metadata.fetch().leader_for(T0) == NODES[0]
    assert metadata.fetch().with_partitions_of(["t"]).topic_ids == {"t": UUID(int=2)}
    assert metadata.fetch().with_partitions_of([]).topic_ids == {}


def test_a_broker_that_has_just_started_deletes_no_topic() -> None:
    metadata = Metadata()
    metadata.update(led(1, 5), 0)
    metadata.update(Cluster(NODES[:1]), 0)
    assert metadata.fetch().leader_for(T0) is None
    metadata.update(led(0, 4), 0)
    assert metadata.fetch().leader_for(T0) == NODES[1]


def test_older_epochs_are_believed_when_none_newer_was_reported_for_long() -> None:
    metadata = Metadata()
    metadata.update(led(1, 5), 0)
    metadata.update(led(1, 5), 500)
    metadata.update(led(0, 0), 499 + NEWEST_LEADER_MS)
    assert metadata.fetch().leader_for(T0) == NODES[1]
    metadata.update(led(0, 0), 500 + NEWEST_LEADER_MS)
    assert metadata.fetch().leader_for(T0) == NODES[0]


def test_cluster_lookups() -> None:
    partitions = (PartitionInfo("t", 1, None), PartitionInfo("t", 0, NODES[1]), PartitionInfo("s", 0, NODES[0]))
    known = Cluster(NODES, partitions)
    assert [info.partition for info in known.partitions_for_topic("t")] == [0, 1]
    assert [info.partition for info in known.available_partitions_for_topic("t")] == [0]
    assert known.partition_count_for_topic("t") == 2
    assert known.partition_count_for_topic("unknown") is None
    assert known.leader_for(TopicPartition("t", 0)) == NODES[1]
    assert known.leader_for(TopicPartition("t", 1)) is known.leader_for(TopicPartition("u", 1)) is None
    assert [info.topic for info in known.partitions_for_node(0)] == ["s"]
    bootstrap = Cluster.bootstrap([("h", 1), ("i", 2)])
    assert [node.id for node in bootstrap.nodes] == [-1, -2]
    assert bootstrap.is_bootstrap_configured


@pytest.mark.parametrize("name", ["\ud800", "x" * 0x8000, 7])
def test_an_invalid_topic_name_does_not_affect_other_topics(name: str) -> None:
    metadata = Metadata(time=MockTime())
    # (A compiled module checks the types of its arguments itself.)
    with pytest.raises((ApiError, TypeError), match=r"is not valid: it has 1 to 249|str object expected"):
        metadata.add(name)
    assert metadata.topics() == set()


def test_invalid_topic_names_are_not_added() -> None:
    metadata = Metadata(100, 1000)
    metadata.set_topics(["known"])
    with pytest.raises(ApiError) as refused:
        metadata.set_topics(["known", "half \ud83d"])
    assert refused.value.error is Errors.INVALID_TOPIC_EXCEPTION
    assert metadata.topics() == {"known"}
