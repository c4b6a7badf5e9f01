"""The znodes under /consumers, as Kafka 0.10.2 writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.data import ConsumerRegistration, TopicAssignment
from kafka_lite.zookeeper.zk_errors import NodeExistsError
from kafka_lite.zookeeper.znode_json import ZnodeDataError
from tests.support.fake_zookeeper import Tree, fake_zk

LIVE = Path(__file__).parents[2] / "data" / "zookeeper-old-consumer-live.json"
T0, T1 = TopicPartition("t3", 0), TopicPartition("t3", 1)


@pytest.fixture
def tree() -> Tree:
    return Tree()


@pytest.fixture
def groups(tree: Tree) -> ConsumerGroups:
    return ConsumerGroups(fake_zk(tree))


def test_znodes_match_those_of_kafka(tree: Tree, groups: ConsumerGroups) -> None:
    """The same paths, with empty data where Kafka's is empty, and null where Kafka's is null."""
    registration = ConsumerRegistration({"t3|disk-none": 1}, "white_list", 1795249605838)
    groups.register_consumer("oldgrp2", "oldgrp2_c1", registration)
    live = json.loads(LIVE.read_text())
    offsets = {
        TopicPartition("t3", number): int(live[f"/consumers/oldgrp2/offsets/t3/{number}"]["value"])
        for number in range(3)
    }
    for partition, offset in offsets.items():
        groups.set_offset("oldgrp2", partition, offset)
        assert groups.create_owner("oldgrp2", partition, "oldgrp2_c1-0")
    of_group = {
        path: node for path, node in live.items() if path.startswith("/consumers/oldgrp2") and "disk-none" not in path
    }
    for path, expected in of_group.items():
        found = tree.nodes[path]
        value = None if found.data is None else found.data.decode()
        assert value == expected["value"], path
        assert bool(found.owner) == bool(expected["ephemeralOwner"]), path
    assert {path for path in tree.nodes if path.startswith("/consumers/oldgrp2")} == set(of_group)


def test_a_consumer_id_of_another_session_cannot_be_registered(tree: Tree, groups: ConsumerGroups) -> None:
    registration = ConsumerRegistration({"t": 1}, "static", 1)
    groups.register_consumer("g", "g_a", registration)
    groups.register_consumer("g", "g_a", registration)  # our own registration, whose response was lost
    with pytest.raises(NodeExistsError, match=r"consumer\.id"):
        ConsumerGroups(fake_zk(tree)).register_consumer("g", "g_a", registration)
    assert groups.get_registrations("g") == {"g_a": registration}
    groups.delete_registration("g", "g_a")
    groups.delete_registration("g", "g_a")
    assert groups.get_consumers_in_group("g") == []


def test_an_owner_can_release_only_its_own_partition(tree: Tree, groups: ConsumerGroups) -> None:
    other = ConsumerGroups(fake_zk(tree))
    assert groups.create_owner("g", T0, "a-0")
    assert not other.create_owner("g", T0, "b-0")
    assert not other.create_owner("g", T0, "a-0")  # the same thread in an older session that has not expired yet
    assert not other.release_owner("g", T0, "b-0")
    assert groups.get_owner("g", T0) == "a-0"
    assert groups.release_owner("g", T0, "a-0")
    assert not groups.release_owner("g", T0, "a-0")
    assert groups.get_owner("g", T0) is None
    assert groups.get_topics_of_group("g") == ["t3"]


def test_offsets_are_written_read_and_deleted(groups: ConsumerGroups, tree: Tree) -> None:
    assert not groups.has_offsets("g")
    assert groups.get_offset("g", T0) is None
    groups.set_offset("g", T0, 5)
    groups.set_offset("g", T0, 6)
    assert groups.get_offset("g", T0) == 6
    assert groups.get_offsets("g", [T0, T1]) == {T0: 6}
    assert groups.get_topics_with_offsets("g") == ["t3"]
    tree.nodes["/consumers/g/offsets/t3/0"].data = b"many"
    with pytest.raises(ZnodeDataError, match="not a number"):
        groups.get_offsets("g", [T0])
    assert groups.get_groups() == ["g"]
    assert groups.delete_group("g")
    assert not groups.delete_group("g")


def test_malformed_registrations_are_skipped(groups: ConsumerGroups, caplog: pytest.LogCaptureFixture) -> None:
    groups.register_consumer("g", "g_a", ConsumerRegistration({"t": 1}, "static", 1))
    groups._zk.zookeeper.create("/consumers/g/ids/g_b", b"nonsense", ephemeral=True)
    assert list(groups.get_registrations("g")) == ["g_a"]
    assert "error parsing consumer g_b" in caplog.text


def test_partitions_of_topics_are_read(groups: ConsumerGroups) -> None:
    groups._zk.create_topic_assignment("t3", TopicAssignment({10: [0], 2: [0], 0: [0]}))
    assert groups.get_partitions_for_topics(["t3", "missing"]) == {"t3": [0, 2, 10], "missing": []}
