"""Bounds of requests about many topics. (tests/integration/test_admin_manager.py has what they do to ZooKeeper.)"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import pytest

from kafka_lite.common.bounded_log import MAX_LINES
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.time import MockTime
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataPartitionState, UpdateMetadataRequest
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_lite.protocol.messages.api_37_create_partitions import CreatePartitionsAssignment, CreatePartitionsTopic
from kafka_lite.server.admin.admin_errors import api_error
from kafka_lite.server.admin.admin_manager import MAX_NEW_PARTITIONS, AdminManager
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.quotas.controller_mutation_quota_manager import UnboundedControllerMutationQuota
from kafka_lite.zookeeper.data import TopicAssignment
from tests.support.fake_zookeeper import Tree, fake_zk

KNOWN = "known"


class CountingZk:
    """A ZooKeeper with one topic; counts the calls of each kind."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def get_all_topics(self) -> list[str]:
        self.calls["get_all_topics"] += 1
        return [KNOWN]

    def topic_exists(self, topic: str) -> bool:
        self.calls["topic_exists"] += 1
        return topic == KNOWN

    def is_topic_marked_for_deletion(self, _topic: str) -> bool:
        self.calls["is_topic_marked_for_deletion"] += 1
        return False

    def get_topic_assignment(self, topic: str) -> TopicAssignment | None:
        self.calls["get_topic_assignment"] += 1
        return TopicAssignment({0: [1]}) if topic == KNOWN else None


class Admin:
    def __init__(self, zk: Any = None, **config: str) -> None:
        self.zk, self.cache = zk or CountingZk(), MetadataCache(1)
        state = UpdateMetadataPartitionState(topic_name=KNOWN, partition_index=0, leader=1, replicas=[1], isr=[1])
        self.cache.update_cache(UpdateMetadataRequest(controller_id=1, ungrouped_partition_states=[state]))
        config = KafkaConfig({"zookeeper.connect": "x", "broker.id": "1", **config}, do_log=False)
        zk, dynamic = cast(Any, self.zk), DynamicBrokerConfig(config)
        self.manager = AdminManager(config, self.cache, zk, dynamic, MockTime(), bool, lambda _: None)
        self.results: list[Any] = []
        self.quota = UnboundedControllerMutationQuota()

    def create(self, *topics: CreatableTopic, validate_only: bool = True) -> list[Errors]:
        self.manager.create_topics(0, topics, validate_only, self.quota, self.results.extend)
        return self.told()

    def grow(self, *topics: CreatePartitionsTopic) -> list[Errors]:
        self.manager.create_partitions(0, topics, True, self.quota, self.results.extend)
        return self.told()

    def delete(self, *names: str) -> list[Errors]:
        self.manager.delete_topics(0, names, self.quota, self.results.extend)
        return self.told()

    def told(self) -> list[Errors]:
        return [Errors.for_code(result.error_code) for result in self.results]


@pytest.fixture
def admin() -> Iterator[Admin]:
    made = Admin()
    yield made
    made.manager.shutdown()  # its reaper never waits by this clock: it would slow down all tests that follow


def assigned(name: str, partitions: int) -> CreatableTopic:
    rows = [CreatableReplicaAssignment(partition_index=index, broker_ids=[1]) for index in range(partitions)]
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=rows)


@pytest.mark.parametrize(
    ("protocol", "validate_only", "has_id"),
    [("2.7", False, False), ("2.8-IV0", False, True), ("3.0", False, True), ("3.0", True, False)],
)
def test_a_new_topic_has_an_id_from_2_8_on(protocol: str, validate_only: bool, has_id: bool) -> None:
    zk = fake_zk(Tree())
    for path in ("/brokers/topics", "/admin/delete_topics", "/config/topics"):
        zk.zookeeper.ensure_path(path)
    admin = Admin(zk, **{"inter.broker.protocol.version": protocol, "log.message.format.version": "2.7"})
    told = Errors.NONE if validate_only else Errors.REQUEST_TIMED_OUT  # no controller elects its leaders
    assert admin.create(assigned("t", 1), validate_only=validate_only) == [told]
    admin.manager.shutdown()
    found = zk.get_topic_assignment("t")
    assert (found is None) == validate_only
    assert admin.results[0].topic_id == ((found and found.topic_id) or ZERO_UUID)
    assert (admin.results[0].topic_id != ZERO_UUID) == has_id


def test_the_partitions_of_all_topics_of_a_request_have_one_bound(admin: Admin) -> None:
    half = MAX_NEW_PARTITIONS // 2
    topics = [assigned("a", half), assigned("b", half + 1), assigned("c", half), assigned("d", 1)]
    assert admin.create(*topics) == [Errors.NONE, Errors.POLICY_VIOLATION, Errors.NONE, Errors.POLICY_VIOLATION]


def test_explicit_assignments_and_counts_are_bounded_alike(admin: Admin) -> None:
    counted = CreatableTopic(name="a", num_partitions=MAX_NEW_PARTITIONS + 1, replication_factor=1)
    assert admin.create(counted, assigned("b", MAX_NEW_PARTITIONS + 1)) == [Errors.POLICY_VIOLATION] * 2


def test_new_partitions_are_bounded_by_their_assignments_too(admin: Admin) -> None:
    rows = [CreatePartitionsAssignment(broker_ids=[1])] * (MAX_NEW_PARTITIONS + 1)
    small, large = CreatePartitionsTopic(name=KNOWN, count=2), CreatePartitionsTopic(name="x", count=2)
    small.assignments, large.assignments = None, rows
    assert admin.grow(large) == [Errors.POLICY_VIOLATION]
    counted = CreatePartitionsTopic(name=KNOWN, count=MAX_NEW_PARTITIONS + 2, assignments=None)
    assert admin.grow(counted)[1:] == [Errors.POLICY_VIOLATION]


def test_topics_that_exist_are_refused_without_asking_zookeeper(admin: Admin) -> None:
    assert admin.create(*[assigned(KNOWN, 1)] * 100) == [Errors.TOPIC_ALREADY_EXISTS]
    assert not admin.zk.calls


def test_many_deletions_list_the_topics_once(admin: Admin, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert admin.delete(*(f"t{number}" for number in range(1000))) == [Errors.UNKNOWN_TOPIC_OR_PARTITION] * 1000
    assert admin.zk.calls == {"get_all_topics": 1}
    assert len(caplog.records) == MAX_LINES + 1
    assert caplog.records[-1].getMessage() == f"{1000 - MAX_LINES} more lines of the same request are not logged"


def test_a_message_that_would_repeat_a_whole_assignment_is_cut(admin: Admin) -> None:
    twice = assigned("a", 1000)
    for row in twice.assignments:
        row.broker_ids = [1, 1]
    assert admin.create(twice) == [Errors.INVALID_REPLICA_ASSIGNMENT]
    (result,) = admin.results
    assert len(result.error_message) < 2100


def test_topics_with_the_same_overrides_share_their_description(admin: Admin) -> None:
    def configured(name: str, value: str) -> CreatableTopic:
        topic = assigned(name, 1)
        topic.configs = [CreatableTopicConfig(name="retention.ms", value=value)]
        return topic

    topics = [configured("a", "1"), configured("b", "1"), configured("c", "2"), assigned("d", 1)]
    assert admin.create(*topics) == [Errors.NONE] * 4
    a, b, c, d = (result.configs for result in admin.results)
    assert a is b
    values = [{entry.name: entry.value for entry in configs}["retention.ms"] for configs in (b, c, d)]
    assert values == ["1", "2", "604800000"]


def test_many_topics_to_enlarge_are_looked_up_in_one_listing(admin: Admin) -> None:
    unknown = [CreatePartitionsTopic(name=f"t{number}", count=2, assignments=None) for number in range(1000)]
    known = CreatePartitionsTopic(name=KNOWN, count=3, assignments=[CreatePartitionsAssignment(broker_ids=[1])])
    assert admin.grow(*unknown, known) == [Errors.UNKNOWN_TOPIC_OR_PARTITION] * 1000 + [
        Errors.INVALID_REPLICA_ASSIGNMENT  # one assignment for two new partitions: it was looked at
    ]
    assert admin.zk.calls == {"get_all_topics": 1, "get_topic_assignment": 1}


def test_an_error_that_becomes_a_result_does_not_keep_the_frames_of_its_request() -> None:
    results: dict[str, ApiError] = {}
    try:
        raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception("t")
    except ApiError as error:
        results["t"] = api_error(error, "deleting")
    assert results["t"].__traceback__ is None
