"""ConsumerGroupHeartbeat and ConsumerGroupDescribe between the wire and the coordinator, with and without rights."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import api_68_consumer_group_heartbeat as heartbeat
from kafka_lite.protocol.messages import api_69_consumer_group_describe as describe
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.apis.consumer_group_apis import ConsumerGroupApis
from kafka_lite.server.apis.group_apis import GROUP_OPERATIONS
from kafka_lite.server.auth.authorizing_handlers import visible_rule
from tests.support.authorizing import GROUP_DENIED, TOPIC_DENIED, Broker
from tests.support.modern_groups import ModernGroups

FIRST = heartbeat.ConsumerGroupHeartbeatRequest(
    group_id="group", member_id="m", rebalance_timeout_ms=1, subscribed_topic_names=["t"], topic_partitions=[]
)


def ask(handle: Any, body: Any, version: int = 1) -> Any:
    header = RequestHeader(api_key=body.API_KEY, api_version=version, client_id="c")
    answers: list[Any] = []
    handle(Request(0, "connection", "L", "PLAINTEXT", "10.0.0.1", header, body, 0, 0.0), body, answers.append)
    return answers[0]


def test_a_member_joins_and_is_described() -> None:
    groups = ModernGroups()
    apis = ConsumerGroupApis(groups.coordinator, None)
    assert ask(apis.handle_heartbeat, FIRST).member_epoch == 1
    wanted = describe.ConsumerGroupDescribeRequest(group_ids=["group", "none"], include_authorized_operations=True)
    described, unknown = ask(apis.handle_describe, wanted).groups
    assert [(m.client_id, m.client_host) for m in described.members] == [("c", "/10.0.0.1")]
    assert described.authorized_operations == GROUP_OPERATIONS
    assert (unknown.error_code, unknown.error_message) == (Errors.GROUP_ID_NOT_FOUND.code, "Group none not found.")


def test_without_the_protocol_both_are_refused() -> None:
    apis = ConsumerGroupApis(ModernGroups(is_enabled=False).coordinator, None)
    unsupported = Errors.UNSUPPORTED_VERSION.code
    assert ask(apis.handle_heartbeat, FIRST).error_code == unsupported
    wanted = describe.ConsumerGroupDescribeRequest(group_ids=["g"])
    assert [group.error_code for group in ask(apis.handle_describe, wanted).groups] == [unsupported]


@pytest.mark.parametrize("version", [0, 1])
def test_a_member_reads_its_group_and_describes_its_topics(version: int) -> None:
    assert Broker().ask(FIRST, version).error_code == GROUP_DENIED
    assert Broker("READ GROUP group").ask(FIRST, version).error_code == TOPIC_DENIED
    assert Broker("READ GROUP group", "DESCRIBE TOPIC t").ask(FIRST, version).error_code == 0
    later = heartbeat.ConsumerGroupHeartbeatRequest(group_id="group", member_id="m", member_epoch=3)
    assert Broker("READ GROUP group").ask(later, version).error_code == 0


def test_a_group_whose_topics_are_hidden_is_not_described() -> None:
    def answer() -> describe.ConsumerGroupDescribeResponse:
        partitions = describe.TopicPartitions(topic_name="t", partitions=[0])
        member = describe.Member(member_id="m", assignment=describe.Assignment(topic_partitions=[partitions]))
        return describe.ConsumerGroupDescribeResponse(groups=[describe.DescribedGroup(group_id="g", members=[member])])

    wanted = describe.ConsumerGroupDescribeRequest(group_ids=["g", "h"], include_authorized_operations=True)
    hidden = Broker("DESCRIBE GROUP g").ask(wanted, 1, answer())
    assert [(g.group_id, g.error_code, g.members) for g in hidden.groups] == [
        ("g", TOPIC_DENIED, []),
        ("h", GROUP_DENIED, []),
    ]
    shown = Broker("DESCRIBE GROUP g", "DESCRIBE TOPIC t").ask(wanted, 1, answer())
    assert [(g.error_code, len(g.members)) for g in shown.groups] == [(0, 1), (GROUP_DENIED, 0)]


def test_a_regular_expression_means_topics_that_the_client_may_describe() -> None:
    broker = Broker("DESCRIBE TOPIC a")
    request = broker.request(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, FIRST)
    assert visible_rule(broker.auth)(request, ["a", "b"]) == {"a"}
