"""What administrators may do, request by request."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kafka_lite.protocol.messages import (
    api_15_describe_groups as describe_groups,
)
from kafka_lite.protocol.messages import (
    api_16_list_groups as list_groups,
)
from kafka_lite.protocol.messages import (
    api_19_create_topics as create_topics,
)
from kafka_lite.protocol.messages import (
    api_20_delete_topics as delete_topics,
)
from kafka_lite.protocol.messages import (
    api_32_describe_configs as describe_configs,
)
from kafka_lite.protocol.messages import (
    api_42_delete_groups as delete_groups,
)
from kafka_lite.protocol.messages import (
    api_65_describe_transactions as describe_transactions,
)
from kafka_lite.protocol.messages import (
    api_66_list_transactions as list_transactions,
)
from kafka_lite.protocol.messages import (
    api_74_list_config_resources as list_config_resources,
)
from tests.support.authorizing import CLUSTER_DENIED, GROUP_DENIED, TOPIC_DENIED, TXN_DENIED, Broker


def test_groups_are_described_listed_and_deleted_by_those_who_may() -> None:
    answer: Any = describe_groups.DescribeGroupsResponse(groups=[describe_groups.DescribedGroup(group_id="g")])
    body = describe_groups.DescribeGroupsRequest(groups=["g", "h"], include_authorized_operations=True)
    response = Broker("DESCRIBE GROUP g").ask(body, 5, answer)
    assert [(each.group_id, each.error_code, each.authorized_operations) for each in response.groups] == [
        ("g", 0, 1 << 8), ("h", GROUP_DENIED, -(2**31)),
    ]  # fmt: skip
    listed = [list_groups.ListedGroup(group_id=name) for name in ("g", "h")]
    for allowed, names in (("DESCRIBE GROUP g", ["g"]), ("DESCRIBE CLUSTER kafka-cluster", ["g", "h"])):
        answer = list_groups.ListGroupsResponse(groups=list(listed))
        response = Broker(allowed).ask(list_groups.ListGroupsRequest(), 4, answer)
        assert [each.group_id for each in response.groups] == names
    response = Broker("DELETE GROUP g").ask(delete_groups.DeleteGroupsRequest(groups_names=["g", "h"]), 2)
    assert [(each.group_id, each.error_code) for each in response.results] == [("h", GROUP_DENIED)]


def test_transactions_are_shown_to_those_who_may() -> None:
    listed = [list_transactions.TransactionState(transactional_id=name) for name in ("t", "u")]
    answer: Any = list_transactions.ListTransactionsResponse(transaction_states=listed)
    response = Broker("DESCRIBE TRANSACTIONAL_ID t").ask(list_transactions.ListTransactionsRequest(), 1, answer)
    assert [each.transactional_id for each in response.transaction_states] == ["t"]
    of_topics = [describe_transactions.TopicData(topic=name) for name in ("a", "b")]
    state = describe_transactions.TransactionState(transactional_id="t", topics=of_topics)
    answer = describe_transactions.DescribeTransactionsResponse(transaction_states=[state])
    body = describe_transactions.DescribeTransactionsRequest(transactional_ids=["t", "u"])
    response = Broker("DESCRIBE TRANSACTIONAL_ID t", "DESCRIBE TOPIC a").ask(body, 0, answer)
    assert [
        (each.transactional_id, each.error_code, [topic.topic for topic in each.topics])
        for each in response.transaction_states
    ] == [("t", 0, ["a"]), ("u", TXN_DENIED, [])]


def test_create_topics_hides_configurations() -> None:
    result = create_topics.CreatableTopicResult(name="a", num_partitions=1, replication_factor=1)
    body = create_topics.CreateTopicsRequest(topics=[create_topics.CreatableTopic(name=name) for name in ("a", "b")])
    answer = create_topics.CreateTopicsResponse(topics=[result])
    response = Broker("CREATE TOPIC a").ask(body, 7, answer)
    found = response.topics
    assert [(each.name, each.error_code, each.topic_config_error_code, each.num_partitions) for each in found] == [
        ("a", 0, TOPIC_DENIED, -1), ("b", TOPIC_DENIED, TOPIC_DENIED, -1),
    ]  # fmt: skip
    broker = Broker("CREATE CLUSTER kafka-cluster")
    broker.ask(body, 7)
    assert broker.handled == [body]


@pytest.mark.parametrize("version", [1, 6])
def test_delete_topics(version: int) -> None:
    body = delete_topics.DeleteTopicsRequest(topic_names=["a", "b"])
    if version >= 6:
        topic = delete_topics.DeleteTopicState
        body = delete_topics.DeleteTopicsRequest(topics=[topic(name="a"), topic(name="b")])
    response = Broker("DELETE TOPIC a").ask(body, version)
    assert [(each.name, each.error_code) for each in response.responses] == [("b", TOPIC_DENIED)]


@pytest.mark.parametrize(
    ("allowed", "told"),
    [
        ((), (None, TOPIC_DENIED)),
        (("DELETE TOPIC a",), (None, TOPIC_DENIED)),
        (("DESCRIBE TOPIC a",), ("a", TOPIC_DENIED)),
        (("DESCRIBE TOPIC a", "DELETE TOPIC a"), None),
    ],
)
def test_the_id_of_a_topic_does_not_betray_its_name(allowed: tuple[str, ...], told: object) -> None:
    state, by_id, unknown = delete_topics.DeleteTopicState, UUID(int=1), UUID(int=77)
    broker = Broker(*allowed, "DELETE TOPIC c")
    asked = [state(name=None, topic_id=by_id), state(name=None, topic_id=unknown), state(name="b"), state(name="c")]
    response = broker.ask(delete_topics.DeleteTopicsRequest(topics=asked), 6)
    refused = {(each.name, each.topic_id.int): each.error_code for each in response.responses}
    assert refused.pop(("b", 0)) == TOPIC_DENIED
    assert refused == ({} if told is None else {(told[0], 1): told[1]})  # type: ignore[index]
    left = [(topic.name, topic.topic_id) for topic in broker.handled[0].topics]
    assert left == [*([(None, by_id)] if told is None else []), (None, unknown), ("c", UUID(int=0))]


def test_a_deletion_of_hidden_topics_only_does_not_reach_the_handler() -> None:
    broker = Broker()
    asked = [delete_topics.DeleteTopicState(name=None, topic_id=UUID(int=1))]
    (refusal,) = broker.ask(delete_topics.DeleteTopicsRequest(topics=asked), 6).responses
    assert (refusal.name, refusal.topic_id.int, refusal.error_code) == (None, 1, TOPIC_DENIED)
    assert broker.handled == []


def test_configurations_of_topics_and_brokers() -> None:
    resource = describe_configs.DescribeConfigsResource
    body = describe_configs.DescribeConfigsRequest(
        resources=[resource(resource_type=kind, resource_name="1") for kind in (2, 4, 8)]
    )
    broker = Broker("DESCRIBE_CONFIGS CLUSTER kafka-cluster")
    response = broker.ask(body, 4)
    assert [(each.resource_type, each.error_code) for each in response.results] == [(2, TOPIC_DENIED)]
    assert [each.resource_type for each in broker.handled[0].resources] == [4, 8]
    response = Broker("DESCRIBE_CONFIGS TOPIC 1").ask(body, 4)
    assert [(each.resource_type, each.error_code) for each in response.results] == [
        (4, CLUSTER_DENIED),
        (8, CLUSTER_DENIED),
    ]


@pytest.mark.parametrize(("allowed", "error"), [(["DESCRIBE_CONFIGS CLUSTER kafka-cluster"], 0), ([], CLUSTER_DENIED)])
def test_resources_are_listed_by_those_who_may_describe_configurations(allowed: list[str], error: int) -> None:
    broker = Broker(*allowed)
    assert broker.ask(list_config_resources.ListConfigResourcesRequest(), 1).error_code == error
    assert len(broker.handled) == (error == 0)
