"""Topics as they are written to ZooKeeper, and why a change is rejected."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import create_autospec

import pytest

from kafka_lite.admin.admin_utils import AdminUtils, RackAwareMode, validate_assignment
from kafka_lite.admin.replica_assignment import BrokerMetadata
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.zookeeper.data import BrokerRegistration, TopicAssignment
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import NodeExistsError, ZkStorageError
from tests.support.fake_zookeeper import FakeZooKeeper, Tree, fake_zk

BROKERS = [BrokerMetadata(number) for number in range(3)]


@pytest.fixture
def zk() -> KafkaZkClient:
    client = fake_zk(Tree())
    for path in ("/brokers/ids", "/brokers/topics", "/admin/delete_topics"):
        client.zookeeper.ensure_path(path)
    for broker in BROKERS:
        client.register_broker(broker.id, BrokerRegistration(("PLAINTEXT://h:9092",)))
    return client


@pytest.fixture
def admin(zk: KafkaZkClient) -> AdminUtils:
    return AdminUtils(zk)


def rejected(change: Callable[[], object]) -> tuple[Errors, str]:
    """The error and the text of a change that must not be made."""
    with pytest.raises(ApiError) as caught:
        change()
    return caught.value.error, str(caught.value)


# ── Brokers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_racks_are_used_only_if_all_brokers_have_one(zk: KafkaZkClient, admin: AdminUtils) -> None:
    zk.register_broker(3, BrokerRegistration(("PLAINTEXT://h:9092",), rack="r1"))
    error, text = rejected(admin.get_broker_metadatas)
    assert (error, "--disable-rack-aware" in text) == (Errors.INVALID_REPLICA_ASSIGNMENT, True)
    without = [BrokerMetadata(number) for number in range(4)]
    assert admin.get_broker_metadatas(RackAwareMode.SAFE) == without
    assert admin.get_broker_metadatas(RackAwareMode.DISABLED) == without
    for number in range(3):
        zk.zookeeper.delete(f"/brokers/ids/{number}")
    assert admin.get_broker_metadatas() == [BrokerMetadata(3, "r1")]
    assert admin.get_broker_metadatas(RackAwareMode.DISABLED) == [BrokerMetadata(3)]


# ── New topics ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_topics_configuration_is_written_before_the_topic(zk: KafkaZkClient, admin: AdminUtils) -> None:
    assignment = admin.create_topic("t", 2, 3, {"retention.ms": "5"})
    assert sorted(sorted(replicas) for replicas in assignment.values()) == [[0, 1, 2], [0, 1, 2]]
    assert zk.get_topic_assignment("t") == TopicAssignment(assignment)
    assert zk.get_entity_config("topics/t") == {"retention.ms": "5"}
    fake: Any = zk.zookeeper
    paths = [each for each in fake.tree.writes if each.endswith("/t")]
    assert paths == ["+ /config/topics/t", "+ /brokers/topics/t"], "the controller reads it when the topic appears"


@pytest.mark.parametrize(
    ("assignment", "complaint"),
    [
        ({0: [0, 1], 1: [2]}, "All partitions should have the same number of replicas."),
        ({}, "All partitions should have the same number of replicas."),
        ({0: []}, "Replication factor must be larger than 0."),
        ({0: [1, 1]}, "Duplicate replica assignment found: {0: [1, 1]}"),
        ({0: [1], 2: [1]}, "partitions should be a consecutive 0-based integer sequence"),
        ({1: [1]}, "partitions should be a consecutive 0-based integer sequence"),
    ],
)
def test_an_assignment_that_cannot_be_is_rejected(assignment: dict[int, list[int]], complaint: str) -> None:
    assert rejected(lambda: validate_assignment(assignment)) == (Errors.INVALID_REPLICA_ASSIGNMENT, complaint)


def test_a_topic_is_created_once(zk: KafkaZkClient, admin: AdminUtils) -> None:
    admin.create_topic_with_assignment("t", {0: [1]}, {})
    again = rejected(lambda: admin.create_topic_with_assignment("t", {0: [2]}, {}))
    assert again == (Errors.TOPIC_ALREADY_EXISTS, "Topic 't' already exists.")
    admin.delete_topic("t")
    admin.delete_topic("t")
    assert zk.is_topic_marked_for_deletion("t")
    marked = rejected(lambda: admin.create_topic_with_assignment("t", {0: [2]}, {}))
    assert marked == (Errors.TOPIC_ALREADY_EXISTS, "Topic 't' is marked for deletion.")


def test_a_topic_that_another_creates_in_between_exists(
    zk: KafkaZkClient, admin: AdminUtils, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_arguments: object) -> None:
        raise NodeExistsError("/brokers/topics/t")

    monkeypatch.setattr(zk, "create_topic_assignment", lose)
    assert rejected(lambda: admin.create_topic("t", 1, 1))[0] is Errors.TOPIC_ALREADY_EXISTS


@pytest.mark.parametrize("name", ["", "..", "a/b", "a" * 250])
def test_a_name_that_is_no_topics_name_is_rejected(zk: KafkaZkClient, admin: AdminUtils, name: str) -> None:
    assert rejected(lambda: admin.create_topic(name, 1, 1))[0] is Errors.INVALID_TOPIC_EXCEPTION
    assert not admin.topic_exists(name)
    assert rejected(lambda: admin.delete_topic(name))[0] is Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert zk.get_all_topics() == []


def test_an_unknown_key_is_answered_with_the_one_that_was_meant(zk: KafkaZkClient, admin: AdminUtils) -> None:
    error, text = rejected(lambda: admin.create_topic("t", 1, 1, {"retention.msec": "5"}))
    assert error is Errors.INVALID_CONFIG
    assert "Unknown topic config name: retention.msec" in text
    assert "retention.ms" in text.partition("msec")[2]
    with pytest.raises(ConfigError, match=r"retention\.ms"):
        admin.create_topic("t", 1, 1, {"retention.ms": "soon"})
    assert zk.get_entity_config("topics/t") == {}, "nothing was written"


def refusal(topic: str, topics_a_moment_later: list[str]) -> ApiError:
    """Why the topic cannot be created if these topics exist at the second look, but not at the first."""
    zk_client = create_autospec(KafkaZkClient, instance=True)
    zk_client.is_topic_marked_for_deletion.return_value = False
    zk_client.topic_exists.return_value = False
    zk_client.get_all_topics.return_value = topics_a_moment_later
    with pytest.raises(ApiError) as raised:
        AdminUtils(zk_client).create_topic_with_assignment(topic, {0: [0]}, {})
    return raised.value


def test_topics_whose_metric_names_collide_are_rejected() -> None:
    error = refusal("a_b", ["a.b", "c"])
    assert error.error is Errors.INVALID_TOPIC_EXCEPTION
    assert "collides with existing topics: a.b" in str(error)


def test_a_topic_created_concurrently_does_not_collide_with_itself() -> None:
    assert refusal("a_b", ["a_b", "c"]).error is Errors.TOPIC_ALREADY_EXISTS


# ── More partitions ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_leaders_of_new_partitions_continue_after_that_of_the_first(zk: KafkaZkClient, admin: AdminUtils) -> None:
    admin.create_topic_with_assignment("t", {0: [1, 2]}, {})
    assert admin.add_partitions("t", 3, BROKERS, validate_only=True) == {0: [1, 2], 1: [2, 1], 2: [0, 2]}
    assert zk.get_topic_assignment("t") == TopicAssignment({0: [1, 2]}), "only validated"
    assert admin.add_partitions("t", 3, BROKERS) == {0: [1, 2], 1: [2, 1], 2: [0, 2]}
    assert zk.get_topic_assignment("t") == TopicAssignment({0: [1, 2], 1: [2, 1], 2: [0, 2]})


def test_new_partitions_take_the_replicas_that_are_given(admin: AdminUtils) -> None:
    admin.create_topic_with_assignment("t", {0: [1, 2]}, {})
    assert admin.add_partitions("t", 2, BROKERS, [[2, 0]]) == {0: [1, 2], 1: [2, 0]}


@pytest.mark.parametrize(
    ("replicas", "complaint"),
    [
        ([[0, 7]], "Unknown broker(s) in replica assignment: 7."),
        ([[0, 1], [1, 2]], "Increasing the number of partitions by 1 but 2 assignments provided."),
        ([[0, 0]], "Duplicate brokers not allowed in replica assignment: [[0, 0]]."),
        ([[0]], "Inconsistent replication factor between partitions"),
    ],
)
def test_replicas_that_do_not_fit_are_rejected(admin: AdminUtils, replicas: list[list[int]], complaint: str) -> None:
    admin.create_topic_with_assignment("t", {0: [1, 2]}, {})
    error, text = rejected(lambda: admin.add_partitions("t", 2, BROKERS, replicas))
    assert (error, text.startswith(complaint)) == (Errors.INVALID_REPLICA_ASSIGNMENT, True)


def test_partitions_only_become_more(zk: KafkaZkClient, admin: AdminUtils) -> None:
    admin.create_topic_with_assignment("t", {0: [1], 1: [2]}, {})
    same = rejected(lambda: admin.add_partitions("t", 2, BROKERS))
    assert same == (Errors.INVALID_PARTITIONS, "Topic already has 2 partitions.")
    fewer = rejected(lambda: admin.add_partitions("t", 1, BROKERS))
    assert fewer[0] is Errors.INVALID_PARTITIONS
    missing = rejected(lambda: admin.add_partitions("nope", 3, BROKERS))
    assert missing == (Errors.UNKNOWN_TOPIC_OR_PARTITION, "The topic 'nope' does not exist.")
    moving = TopicAssignment({0: [1], 1: [2]}, adding_replicas={0: [2]}, removing_replicas={0: [1]})
    zk.set_topic_assignment("t", moving)
    assert rejected(lambda: admin.add_partitions("t", 3, BROKERS))[0] is Errors.REASSIGNMENT_IN_PROGRESS


# ── Configurations ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_changed_configuration_replaces_the_old_one_and_tells_the_brokers(
    zk: KafkaZkClient, admin: AdminUtils
) -> None:
    admin.create_topic("t", 1, 1, {"retention.ms": "5", "segment.bytes": "100000"})
    admin.change_topic_config("t", {"retention.ms": "6"})
    assert zk.get_entity_config("topics/t") == {"retention.ms": "6"}
    (change,) = zk.zookeeper.children("/config/changes")
    data, _ = zk.zookeeper.get(f"/config/changes/{change}")
    assert json.loads(data or b"") == {"version": 2, "entity_path": "topics/t"}


def test_only_a_topic_that_exists_is_configured(zk: KafkaZkClient, admin: AdminUtils) -> None:
    error, text = rejected(lambda: admin.change_topic_config("nope", {}))
    assert (error, text) == (Errors.UNKNOWN_TOPIC_OR_PARTITION, 'Topic "nope" does not exist.')
    admin.create_topic("t", 1, 1)
    with pytest.raises(ConfigError):
        admin.change_topic_config("t", {"retention.ms": "x"})
    assert zk.get_entity_config("topics/t") == {}


def test_a_full_disk_of_zookeeper_is_told_at_once(admin: AdminUtils, monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[str] = []

    class Full(AbstractContextManager[None]):
        def __enter__(self) -> None:
            entered.append("entered")
            raise ZkStorageError("no room")

        def __exit__(self, *_: object) -> None:
            """Not reached."""

    monkeypatch.setattr(FakeZooKeeper, "refusing_without_room", lambda _self: Full())
    for change in (
        lambda: admin.create_topic("t", 1, 1),
        lambda: admin.change_entity_config("topics/t", {}),
    ):
        error, text = rejected(change)
        assert (error, "Free some space" in text) == (Errors.KAFKA_STORAGE_ERROR, True)
    assert len(entered) == 2
