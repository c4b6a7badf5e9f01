"""ShareGroupHeartbeat and ShareGroupDescribe between the wire and the coordinator, with and without rights."""

from __future__ import annotations

from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_76_share_group_heartbeat as heartbeat
from kafka_lite.protocol.messages import api_77_share_group_describe as describe
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.apis.group_apis import GROUP_OPERATIONS
from kafka_lite.server.apis.share.share_group_apis import ShareGroupApis
from tests.support.share_groups import ShareGroups

FIRST = heartbeat.ShareGroupHeartbeatRequest(group_id="group", member_id="m", subscribed_topic_names=["t"])


def ask(handle: Any, body: Any) -> Any:
    header = RequestHeader(api_key=body.API_KEY, api_version=1, client_id="c")
    answers: list[Any] = []
    handle(Request(0, "connection", "L", "PLAINTEXT", "10.0.0.1", header, body, 0, 0.0), body, answers.append)
    return answers[0]


def test_a_member_joins_and_is_described() -> None:
    groups = ShareGroups()
    apis = ShareGroupApis(groups.coordinator)
    assert ask(apis.handle_heartbeat, FIRST).member_epoch == 1
    wanted = describe.ShareGroupDescribeRequest(group_ids=["group", "none"], include_authorized_operations=True)
    described, unknown = ask(apis.handle_describe, wanted).groups
    assert [(m.client_id, m.client_host) for m in described.members] == [("c", "/10.0.0.1")]
    assert described.authorized_operations == GROUP_OPERATIONS
    assert (unknown.error_code, unknown.error_message) == (Errors.GROUP_ID_NOT_FOUND.code, "Group none not found.")
