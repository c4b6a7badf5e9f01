"""Whether the groups of KIP-848 are served: by configuration and by the feature of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_lite.protocol.messages.api_69_consumer_group_describe import ConsumerGroupDescribeRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.auth.consumer_group_switch import ConsumerGroupSwitch
from kafka_lite.server.auth.switched_handlers import switched
from kafka_lite.zookeeper.feature_znode import FeatureStatus, FeatureStore, FeatureZNode
from tests.support.fake_zookeeper import Tree, fake_zk

ON = {"group.version": 1}
WAIT, OFF = Errors.COORDINATOR_NOT_AVAILABLE, Errors.UNSUPPORTED_VERSION


def features_of(node: FeatureZNode | None) -> tuple[FinalizedFeatures, FeatureStore]:
    store = FeatureStore(fake_zk(Tree()).zookeeper)
    if node is not None:
        store.write(node, -1)
    features = FinalizedFeatures(store)
    features.startup()
    return features, store


@pytest.mark.parametrize(
    ("node", "refusal"),
    [
        (None, WAIT),
        (FeatureZNode(FeatureStatus.ENABLED, {}), OFF),
        (FeatureZNode(FeatureStatus.DISABLED, {}), OFF),
        (FeatureZNode(FeatureStatus.ENABLED, {"transaction.version": 2}), OFF),
        (FeatureZNode(FeatureStatus.ENABLED, ON), None),
    ],
)
def test_the_feature_switches_them_on(node: FeatureZNode | None, refusal: Errors | None) -> None:
    features, _ = features_of(node)
    assert ConsumerGroupSwitch(True, features).refusal is refusal
    assert ConsumerGroupSwitch(False, features).refusal is OFF


def test_without_features_they_are_off() -> None:
    """``inter.broker.protocol.version`` is before 2.7."""
    assert ConsumerGroupSwitch(True, FinalizedFeatures(None)).refusal is OFF


def ask(guard: ConsumerGroupSwitch, body: Any) -> Any:
    header = RequestHeader(api_key=body.API_KEY, api_version=0, client_id="c")
    answers: list[Any] = []
    handler = switched(guard)(body.API_KEY, lambda _request, _body, respond: respond(None))
    handler(Request(0, "connection", "L", "PLAINTEXT", "10.0.0.1", header, body, 0, 0.0), body, answers.append)
    return answers[0]


def test_requests_are_refused_as_by_kafka_until_the_cluster_has_the_feature() -> None:
    features, store = features_of(FeatureZNode(FeatureStatus.ENABLED, {}))
    guard = ConsumerGroupSwitch(True, features)
    beat = ConsumerGroupHeartbeatRequest(group_id="g", member_epoch=0)
    describe = ConsumerGroupDescribeRequest(group_ids=["g", "h"])
    assert ask(guard, beat).error_code == OFF.code
    assert [(each.group_id, each.error_code) for each in ask(guard, describe).groups] == [
        ("g", OFF.code),
        ("h", OFF.code),
    ]
    _, version = store.read()
    store.write(FeatureZNode(FeatureStatus.ENABLED, ON), version)
    assert ask(guard, beat) is None
    assert ask(guard, describe) is None
