"""The rule of each request: its operation, its error, and what reaches the handler."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.messages import (
    api_00_produce,
)
from kafka_lite.protocol.messages import (
    api_02_list_offsets as list_offsets,
)
from kafka_lite.protocol.wire_types import Array, StructType
from kafka_lite.server.auth.authorizing_handlers import RULES, authorizing
from kafka_lite.server.auth.rules import free
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from tests.support.authorizing import CLUSTER_DENIED, GROUP_DENIED, TOPIC_DENIED, Broker, Topics


def test_every_request_has_a_rule() -> None:
    with_topics = {ApiKey.METADATA, ApiKey.DELETE_TOPICS, ApiKey.DESCRIBE_TOPIC_PARTITIONS}
    assert RULES.keys() | with_topics == SERVED_VERSIONS.keys()


def test_requests_that_everyone_may_send_cost_nothing() -> None:
    def handler(*_: object) -> None: ...

    wrap = authorizing(Broker().auth, True, Topics("t"))
    assert [key for key, rule in RULES.items() if rule is free] == [
        key for key in RULES if wrap(key, handler) is handler
    ]
    assert {key for key, rule in RULES.items() if rule is free} == {
        ApiKey.FETCH, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE, ApiKey.API_VERSIONS,
        ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN, ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY,
    }  # fmt: skip


ON_CLUSTER = {
    "CLUSTER_ACTION": [
        "LEADER_AND_ISR", "STOP_REPLICA", "UPDATE_METADATA", "CONTROLLED_SHUTDOWN", "INITIALIZE_SHARE_GROUP_STATE",
        "READ_SHARE_GROUP_STATE", "WRITE_SHARE_GROUP_STATE", "DELETE_SHARE_GROUP_STATE",
        "READ_SHARE_GROUP_STATE_SUMMARY",
    ],
    "ALTER": [
        "CREATE_ACLS", "DELETE_ACLS", "ALTER_REPLICA_LOG_DIRS", "ELECT_LEADERS", "ALTER_PARTITION_REASSIGNMENTS",
        "ALTER_USER_SCRAM_CREDENTIALS",
    ],
    "DESCRIBE": [
        "DESCRIBE_ACLS", "DESCRIBE_LOG_DIRS", "LIST_PARTITION_REASSIGNMENTS", "DESCRIBE_USER_SCRAM_CREDENTIALS",
    ],
    "DESCRIBE_CONFIGS": ["DESCRIBE_CLIENT_QUOTAS"],
    "ALTER_CONFIGS": ["ALTER_CLIENT_QUOTAS"],
}  # fmt: skip


@pytest.mark.parametrize(("operation", "name"), [(op, name) for op, names in ON_CLUSTER.items() for name in names])
def test_operations_on_the_cluster(operation: str, name: str) -> None:
    key = ApiKey[name]
    for version in range(SERVED_VERSIONS[key].max_version + 1):
        denied = Broker()
        body = API_SPECS[key].request()
        denied.ask(body, version)
        assert (denied.handled, denied.authorizer.asked) == ([], {(operation, "CLUSTER", "kafka-cluster")})
        allowed = Broker(f"{operation} CLUSTER kafka-cluster")
        allowed.ask(body, version)
        assert allowed.handled == [body]


def test_only_brokers_look_for_coordinators_of_share_partitions() -> None:
    body = API_SPECS[ApiKey.FIND_COORDINATOR].request(key_type=2, coordinator_keys=["g:AAAAAAAAAAEAAAAAAAAAAA:0"])
    denied, allowed = Broker(), Broker("CLUSTER_ACTION CLUSTER kafka-cluster")
    (coordinator,) = denied.ask(body, 6).coordinators
    assert (denied.handled, coordinator.error_code) == ([], CLUSTER_DENIED)
    allowed.ask(body, 6)
    assert allowed.handled == [body]
    denied.ask(body, 5)
    assert denied.handled == [body], "there are none before version 6, as the handler says"


@pytest.mark.parametrize("operation", ["ALTER", "CLUSTER_ACTION"])
def test_an_administrator_may_end_a_transaction_as_a_coordinator_does(operation: str) -> None:
    """KIP-1037, for `kafka-transactions.sh --abort`."""
    body = API_SPECS[ApiKey.WRITE_TXN_MARKERS].request()
    denied, allowed = Broker(), Broker(f"{operation} CLUSTER kafka-cluster")
    denied.ask(body, 1)
    assert denied.handled == []
    assert denied.authorizer.asked == {(each, "CLUSTER", "kafka-cluster") for each in ("ALTER", "CLUSTER_ACTION")}
    allowed.ask(body, 1)
    assert allowed.handled == [body]


def test_the_error_of_the_cluster_is_at_the_top_where_there_is_a_place_for_it() -> None:
    broker = Broker()
    assert broker.ask(API_SPECS[ApiKey.UPDATE_METADATA].request(), 5).error_code == CLUSTER_DENIED
    assert broker.ask(API_SPECS[ApiKey.DESCRIBE_LOG_DIRS].request(), 3).error_code == CLUSTER_DENIED
    assert broker.ask(API_SPECS[ApiKey.DESCRIBE_LOG_DIRS].request(), 1).results == [], "as if there were no directory"


@pytest.mark.parametrize(
    "name", ["JOIN_GROUP", "HEARTBEAT", "LEAVE_GROUP", "SYNC_GROUP", "SHARE_FETCH", "SHARE_ACKNOWLEDGE"]
)
def test_members_read_their_group(name: str) -> None:
    key = ApiKey[name]
    for version in range(SERVED_VERSIONS[key].min_version, SERVED_VERSIONS[key].max_version + 1):
        protocol = {"protocol_type": "c", "protocol_name": "p"} if key is ApiKey.SYNC_GROUP else {}
        body = API_SPECS[key].request(group_id="g", **protocol)
        assert Broker().ask(body, version).error_code == GROUP_DENIED
        assert Broker("READ GROUP g").ask(body, version).error_code == 0


def test_members_of_share_groups_describe_the_topics_that_they_name() -> None:
    body = API_SPECS[ApiKey.SHARE_GROUP_HEARTBEAT].request(group_id="g", subscribed_topic_names=["t"])
    assert Broker().ask(body, 1).error_code == GROUP_DENIED
    assert Broker("READ GROUP g").ask(body, 1).error_code == Errors.TOPIC_AUTHORIZATION_FAILED.code
    assert Broker("READ GROUP g", "DESCRIBE TOPIC t").ask(body, 1).error_code == 0


def test_share_groups_that_may_not_be_described_are_refused() -> None:
    body = API_SPECS[ApiKey.SHARE_GROUP_DESCRIBE].request(group_ids=["g"])
    (group,) = Broker().ask(body, 1).groups
    assert group.error_code == GROUP_DENIED


ON_TOPICS = {
    "LIST_OFFSETS": "DESCRIBE", "DELETE_RECORDS": "DELETE", "CREATE_PARTITIONS": "ALTER", "DESCRIBE_PRODUCERS": "READ",
}  # fmt: skip


@pytest.mark.parametrize(("name", "operation"), ON_TOPICS.items())
def test_operations_on_topics_are_refused_one_by_one(name: str, operation: str) -> None:
    key = ApiKey[name]
    spec = API_SPECS[key]
    (field,) = [each for each in spec.request.FIELDS if each.name == "topics"]
    assert isinstance(field.type, Array)
    assert isinstance(field.type.element, StructType)
    topic_type: Any = field.type.element.cls
    body: Any = spec.request(topics=[topic_type(name=topic) for topic in ("a", "b")])
    for partition_field in topic_type.FIELDS:
        if isinstance(partition_field.type, Array) and "partition" in partition_field.name:
            element = partition_field.type.element
            for topic in body.topics:
                item: Any = element.cls() if isinstance(element, StructType) else 0
                setattr(topic, partition_field.name, [item])
    version = SERVED_VERSIONS[key].max_version
    broker = Broker(f"{operation} TOPIC a")
    broker.ask(body, version)
    assert [[topic.name for topic in each.topics] for each in broker.handled] == [["a"]]
    nothing = Broker()
    nothing.ask(body, version)
    assert nothing.handled == []


def test_list_offsets_says_which_topic() -> None:
    topics = [
        list_offsets.ListOffsetsTopic(name=name, partitions=[list_offsets.ListOffsetsPartition(partition_index=3)])
        for name in ("a", "b")
    ]
    (refused,) = Broker("DESCRIBE TOPIC a").ask(list_offsets.ListOffsetsRequest(topics=topics), 5).topics
    (partition,) = refused.partitions
    assert (refused.name, partition.partition_index, partition.error_code, partition.offset) == (
        "b", 3, TOPIC_DENIED, -1,
    )  # fmt: skip


def test_requests_of_the_broker_to_itself_need_no_rights() -> None:
    broker = Broker()
    body = API_SPECS[ApiKey.UPDATE_METADATA].request()
    request = broker.request(ApiKey.UPDATE_METADATA, 5, body)
    request.processor = -1
    handled: list[object] = []
    wrap = authorizing(broker.auth, True, Topics("t"))
    wrap(ApiKey.UPDATE_METADATA, lambda _request, rest, _respond: handled.append(rest))(request, body, handled.append)
    assert handled == [body]


@pytest.mark.parametrize("name", ["JOIN_GROUP", "INIT_PRODUCER_ID", "DESCRIBE_ACLS", "END_TXN", "PRODUCE"])
def test_an_authorizer_that_fails_refuses_the_request(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = failing(monkeypatch)
    topics = [api_00_produce.TopicProduceData(name="a", partition_data=[api_00_produce.PartitionProduceData(index=0)])]
    body = API_SPECS[ApiKey[name]].request(**({"topic_data": topics, "acks": 1} if name == "PRODUCE" else {}))
    response = broker.ask(body, min(12, SERVED_VERSIONS[ApiKey[name]].max_version))  # the last one with topics' names
    found = response.responses[0].partition_responses[0] if name == "PRODUCE" else response
    assert (broker.handled, found.error_code) == ([], Errors.UNKNOWN_SERVER_ERROR.code)
    assert broker.closed == []


def test_without_a_place_for_the_error_the_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = failing(monkeypatch)
    topics = [api_00_produce.TopicProduceData(name="a", partition_data=[])]
    broker.ask(API_SPECS[ApiKey.PRODUCE].request(topic_data=topics, acks=0), 7)
    assert (broker.handled, len(broker.closed)) == ([], 1)


def failing(monkeypatch: pytest.MonkeyPatch) -> Broker:
    """A broker whose authorizer raises."""

    def fail(*_: object) -> list[bool]:
        raise RuntimeError("no idea")

    broker = Broker()
    monkeypatch.setattr(broker.authorizer, "authorize", fail)
    monkeypatch.setattr(broker.authorizer, "authorize_by_resource_type", fail)
    return broker
