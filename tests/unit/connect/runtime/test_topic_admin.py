"""A topic that a worker or a connector needs is created by the controller, with its settings, unless it is there. If it
is there, it is checked."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.topic_admin import TopicAdmin
from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopicResult, CreateTopicsResponse
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)


class FakeRequests:
    """A cluster of two brokers, of which the second is the controller."""

    def __init__(self, *topics: str) -> None:
        self.topics = topics
        self.error = Errors.NONE
        self.message: str | None = None
        self.controller_id = 2
        self.failures: list[Exception] = []
        """What the next requests raise."""
        self.version = 7
        """The last version of CreateTopics."""
        self.policy: str | None = "compact"
        self.created: list[tuple[object, Any]] = []

    def send_any_node(self, request: Any, *_: object) -> Any:
        if self.failures:
            raise self.failures.pop(0)
        if isinstance(request, MetadataRequest):
            brokers = [MetadataResponseBroker(node_id=number, host="h", port=9000 + number) for number in (1, 2)]
            topics = [MetadataResponseTopic(name=name) for name in self.topics]
            return MetadataResponse(
                brokers=brokers, controller_id=self.controller_id, topics=topics, cluster_id="cluster-1"
            )
        (resource,) = request.resources
        assert (resource.resource_type, resource.resource_name, resource.configuration_keys) == (2, "t", POLICY)
        entries = [DescribeConfigsResourceResult(name="cleanup.policy", value=self.policy)]
        result = DescribeConfigsResult(error_code=self.error.code, error_message=self.message, configs=entries)
        return DescribeConfigsResponse(results=[result])

    def send(self, address: object, request: Any, _response: object, *, min_version: int) -> CreateTopicsResponse:
        if self.version < min_version:
            raise Errors.UNSUPPORTED_VERSION.exception()
        self.created.append((address, request.topics[0]))
        result = CreatableTopicResult(name="t", error_code=self.error.code, error_message=self.message)
        return CreateTopicsResponse(topics=[result])


POLICY = ["cleanup.policy"]
CONFIGS = {"bootstrap.servers": "127.0.0.1:9001", "default.api.timeout.ms": 10_000}


@pytest.fixture
def admin(time: MockTime) -> TopicAdmin:
    return TopicAdmin(CONFIGS, time)


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def cluster(admin: TopicAdmin, monkeypatch: pytest.MonkeyPatch) -> FakeRequests:
    cluster = FakeRequests()
    monkeypatch.setattr(admin, "_client", cluster)
    return cluster


def test_the_controller_creates_it_with_its_settings(admin: TopicAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeRequests("u")
    monkeypatch.setattr(admin, "_client", cluster)
    assert admin.ensure_exists("t", 3, 2, {"cleanup.policy": "compact"})
    ((address, topic),) = cluster.created
    assert (address, topic.name, topic.num_partitions, topic.replication_factor) == (("h", 9002), "t", 3, 2)
    assert [(each.name, each.value) for each in topic.configs] == [("cleanup.policy", "compact")]


def test_one_that_is_there_stays_as_it_is(admin: TopicAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeRequests("t")
    monkeypatch.setattr(admin, "_client", cluster)
    assert not admin.ensure_exists("t", 3, 2)
    assert cluster.created == []


def test_a_refusal_is_an_error_unless_another_was_quicker(admin: TopicAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeRequests()
    monkeypatch.setattr(admin, "_client", cluster)
    cluster.error = Errors.TOPIC_ALREADY_EXISTS
    assert not admin.ensure_exists("t", 1, 1)
    cluster.error = Errors.INVALID_REPLICATION_FACTOR
    with pytest.raises(ConnectError, match="Could not create topic t: INVALID_REPLICATION_FACTOR"):
        admin.ensure_exists("t", 1, 1)
    cluster.error, cluster.controller_id = Errors.NONE, 7
    with pytest.raises(ConnectError, match="Could not create topic t: the cluster has no controller at the moment"):
        admin.ensure_exists("t", 1, 1)


# ── with another try ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_topic_is_created_once_its_brokers_are_there(
    admin: TopicAdmin, cluster: FakeRequests, time: MockTime
) -> None:
    cluster.failures += [ConnectionError("no broker"), ConnectionError("no broker"), ConnectionError("no broker")]
    assert admin.create_with_retry("t", 25, 3, {"cleanup.policy": "compact"})
    ((address, topic),) = cluster.created
    assert (address, topic.name, topic.num_partitions, topic.replication_factor) == (("h", 9002), "t", 25, 3)
    assert [(each.name, each.value) for each in topic.configs] == [("cleanup.policy", "compact")]
    assert time.hi_res_ms() == 100 + 200 + 400


@pytest.mark.parametrize(
    "error",
    [
        Errors.TOPIC_ALREADY_EXISTS,
        Errors.UNSUPPORTED_VERSION,
        Errors.TOPIC_AUTHORIZATION_FAILED,
        Errors.CLUSTER_AUTHORIZATION_FAILED,
    ],
)
def test_a_topic_that_cannot_be_created_is_hoped_for(
    admin: TopicAdmin, cluster: FakeRequests, time: MockTime, error: Errors
) -> None:
    cluster.error = error
    assert not admin.create_with_retry("t", 1, 1)
    assert (len(cluster.created), time.hi_res_ms()) == (1, 0)


@pytest.mark.parametrize(("partitions", "replicas"), [(1, -1), (-1, 3), (-1, -1)])
def test_the_default_of_brokers_that_cannot_be_asked_for_it_is_left_to_them(
    admin: TopicAdmin, cluster: FakeRequests, time: MockTime, partitions: int, replicas: int
) -> None:
    """A CreateTopicsRequest can have -1 since version 4. Older brokers would refuse it as a wrong number."""
    assert admin.create_with_retry("t", partitions, replicas)
    cluster.version = 3
    assert not admin.create_with_retry("t", partitions, replicas)
    assert admin.create_with_retry("t", 1, 3)
    with pytest.raises(ConnectError, match="Could not create topic t: The broker does not know"):
        admin.ensure_exists("t", partitions, replicas)
    assert (len(cluster.created), time.hi_res_ms()) == (2, 0)


def test_it_is_tried_again_while_there_are_too_few_brokers(
    admin: TopicAdmin, cluster: FakeRequests, time: MockTime
) -> None:
    cluster.error, cluster.message = Errors.INVALID_REPLICATION_FACTOR, "only 1 broker"
    with pytest.raises(ConnectError, match=r"Error while attempting to create/find topic\(s\) 't': only 1 broker"):
        admin.create_with_retry("t", 1, 3)
    assert time.hi_res_ms() == 10_000
    assert len(cluster.created) > 5


def test_another_refusal_is_final(admin: TopicAdmin, cluster: FakeRequests, time: MockTime) -> None:
    cluster.error, cluster.message = Errors.INVALID_CONFIG, "no such key"
    with pytest.raises(ConnectError, match=r"Unable to create topic\(s\) 't': no such key"):
        admin.create_with_retry("t", 1, 3, {"bad": "1"})
    cluster.error, cluster.message = Errors.POLICY_VIOLATION, None
    with pytest.raises(ConnectError, match=r"Error while attempting to create/find topic\(s\) 't': POLICY_VIOLATION"):
        admin.create_with_retry("t", 1, 3)
    cluster.failures.append(AuthenticationError("wrong password"))
    with pytest.raises(ConnectError, match=r"create/find topic\(s\) 't': wrong password"):
        admin.create_with_retry("t", 1, 3)
    assert time.hi_res_ms() == 0


def test_brokers_that_do_not_respond_end_it(admin: TopicAdmin, cluster: FakeRequests, time: MockTime) -> None:
    cluster.controller_id = 7
    with pytest.raises(ConnectError, match=r"Timed out while checking for or creating topic\(s\) 't'\. This could"):
        admin.create_with_retry("t", 1, 3)
    assert time.hi_res_ms() == 10_000


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_topic_that_is_only_compacted_is_good(admin: TopicAdmin, cluster: FakeRequests) -> None:
    cluster.policy = " Compact "
    assert admin.verify_only_compact("t", "config.storage.topic", "connector configurations")


@pytest.mark.parametrize(("policy", "named"), [("delete", "delete"), ("delete,compact", "compact,delete")])
def test_another_policy_is_refused_in_kafkas_words(
    admin: TopicAdmin, cluster: FakeRequests, policy: str, named: str
) -> None:
    cluster.policy = policy
    with pytest.raises(ConnectError) as refused:
        admin.verify_only_compact("t", "config.storage.topic", "connector configurations")
    assert str(refused.value) == (
        "Topic 't' supplied via the 'config.storage.topic' property is required to have 'cleanup.policy=compact' to "
        "guarantee consistency and durability of connector configurations, but found the topic currently has "
        f"'cleanup.policy={named}'. Continuing would likely result in eventually losing connector configurations and "
        "problems restarting this Connect cluster in the future. Change the 'config.storage.topic' property in the "
        "Connect worker configurations to use a topic with 'cleanup.policy=compact'."
    )


@pytest.mark.parametrize(
    "error", [Errors.TOPIC_AUTHORIZATION_FAILED, Errors.CLUSTER_AUTHORIZATION_FAILED, Errors.UNKNOWN_TOPIC_OR_PARTITION]
)
def test_a_policy_that_is_not_told_is_not_checked(admin: TopicAdmin, cluster: FakeRequests, error: Errors) -> None:
    cluster.error = error
    assert not admin.verify_only_compact("t", "config.storage.topic", "connector configurations")


def test_brokers_older_than_the_request_are_not_asked(admin: TopicAdmin, cluster: FakeRequests) -> None:
    cluster.failures.append(Errors.UNSUPPORTED_VERSION.exception())
    assert admin.cleanup_policy("t") == frozenset()
    cluster.policy = None
    assert admin.cleanup_policy("t") == frozenset()


def test_a_check_that_fails_is_an_error(admin: TopicAdmin, cluster: FakeRequests) -> None:
    cluster.failures.append(ConnectionError("no broker"))
    with pytest.raises(ConnectError, match="Timed out while waiting to describe topic config for topic 't' on brokers"):
        admin.cleanup_policy("t")
    cluster.error, cluster.message = Errors.UNKNOWN_SERVER_ERROR, "lost"
    with pytest.raises(ConnectError, match=r"Error while attempting to describe .* at 127\.0\.0\.1:9001: lost"):
        admin.cleanup_policy("t")


def test_the_cluster_says_who_it_is_if_it_can_be_asked(admin: TopicAdmin, cluster: FakeRequests) -> None:
    assert admin.cluster_id() == "cluster-1"
    for failure in (ConnectionError("no broker"), Errors.CLUSTER_AUTHORIZATION_FAILED.exception()):
        cluster.failures.append(failure)
        assert admin.cluster_id() is None
