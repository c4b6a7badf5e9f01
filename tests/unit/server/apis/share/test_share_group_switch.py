"""Whether share groups are served: by configuration, or by the feature of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import api_76_share_group_heartbeat as heartbeat
from kafka_lite.protocol.messages import api_77_share_group_describe as describe
from kafka_lite.protocol.messages.api_78_share_fetch import ShareFetchRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.apis.share.share_group_switch import OF_SHARE_GROUPS, ShareGroupSwitch
from kafka_lite.server.auth.switched_handlers import switched
from kafka_lite.zookeeper.feature_znode import FeatureStatus, FeatureStore, FeatureZNode
from tests.support.fake_zookeeper import Tree, fake_zk


def switch(enabled: bool, level: int = 0) -> tuple[ShareGroupSwitch, FeatureStore]:
    store = FeatureStore(fake_zk(Tree()).zookeeper)
    features = FinalizedFeatures(store)
    features.startup()
    if level:
        store.write(FeatureZNode(FeatureStatus.ENABLED, {"share.version": level}), -1)
    return ShareGroupSwitch(ShareGroupConfig(is_enabled=enabled), features), store


def ask(guard: ShareGroupSwitch, body: Any) -> Any:
    header = RequestHeader(api_key=body.API_KEY, api_version=1, client_id="c")
    answers: list[Any] = []
    handler = switched(guard)(body.API_KEY, lambda _request, _body, respond: respond(None))
    handler(Request(0, "connection", "L", "PLAINTEXT", "10.0.0.1", header, body, 0, 0.0), body, answers.append)
    return answers[0]


@pytest.mark.parametrize(("enabled", "level", "is_on"), [(False, 0, False), (True, 0, True), (False, 1, True)])
def test_a_key_or_the_feature_switches_them_on(enabled: bool, level: int, is_on: bool) -> None:
    assert switch(enabled, level)[0].is_on is is_on


def test_a_broker_learns_of_the_feature_while_it_runs() -> None:
    guard, store = switch(False)
    first = heartbeat.ShareGroupHeartbeatRequest(group_id="g", member_id="m", subscribed_topic_names=["t"])
    refused = ask(guard, first)
    assert refused.error_code == Errors.UNSUPPORTED_VERSION.code
    store.write(FeatureZNode(FeatureStatus.ENABLED, {"share.version": 1}), -1)
    assert ask(guard, first) is None


def test_refusals_have_the_error_where_kafka_puts_it() -> None:
    guard, _ = switch(False)
    described = ask(guard, describe.ShareGroupDescribeRequest(group_ids=["g"]))
    assert [group.error_code for group in described.groups] == [Errors.UNSUPPORTED_VERSION.code]
    fetched = ask(guard, ShareFetchRequest(group_id="g", member_id="m"))
    assert fetched.error_code == Errors.UNSUPPORTED_VERSION.code


def test_other_requests_pass() -> None:
    guard, _ = switch(False)
    handler = lambda *_: None  # noqa: E731
    assert switched(guard)(ApiKey.METADATA, handler) is handler
    assert ApiKey.READ_SHARE_GROUP_STATE not in OF_SHARE_GROUPS, "brokers ask each other"
