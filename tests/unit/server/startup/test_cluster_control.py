"""What the broker's controller and its features are made of."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.cluster.finalized_features import FinalizedFeatures, UnsupportedFeaturesError
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.controller.controller_stats import ControllerStats
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.startup.cluster_control import ClusterControl, controller_config, start_features
from kafka_lite.zookeeper.feature_znode import FeatureStatus, FeatureStore, FeatureZNode
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.fake_zookeeper import Tree, fake_zk


def config(**keys: str) -> KafkaConfig:
    properties = {key.replace("_", "."): value for key, value in keys.items()}
    return KafkaConfig({"broker.id": 1, "zookeeper.connect": "embedded", **properties})


@pytest.fixture
def zk() -> KafkaZkClient:
    client = fake_zk(Tree())
    client.create_persistent_paths()
    return client


def test_the_keys_of_the_controller() -> None:
    made = controller_config(config(leader_imbalance_check_interval_seconds="7", delete_topic_enable="false"), dict)
    assert (made.broker_id, made.delete_topic_enable, made.leader_imbalance_check_interval_ms) == (1, False, 7000)


@pytest.mark.parametrize(("protocol", "level"), [("2.6", 0), ("2.7", 1)])
def test_features_are_followed_from_2_7_on(zk: KafkaZkClient, protocol: str, level: int) -> None:
    FeatureStore(zk.zookeeper).write(FeatureZNode(FeatureStatus.ENABLED, {"share.version": 1}), -1)
    settings = config(inter_broker_protocol_version=protocol, log_message_format_version=protocol)
    assert start_features(settings, zk, pytest.fail).level("share.version") == level


def test_a_broker_does_not_start_in_a_cluster_with_later_features(zk: KafkaZkClient) -> None:
    FeatureStore(zk.zookeeper).write(FeatureZNode(FeatureStatus.ENABLED, {"later.version": 1}), -1)
    with pytest.raises(UnsupportedFeaturesError):
        start_features(config(), zk, pytest.fail)


def test_a_request_to_its_own_broker_needs_no_connection(zk: KafkaZkClient) -> None:
    handled: list[Any] = []

    def handle_own(request: Any, version: int) -> UpdateMetadataResponse:
        handled.append((request, version))
        return UpdateMetadataResponse()

    time = MockTime()
    stats = ControllerStats(MetricsRegistry(), time)
    features = FinalizedFeatures(None)
    control = ClusterControl(
        config(), dict, zk, handle_own, lambda _topic: None, stats, MockScheduler(time), time, features
    )
    request = UpdateMetadataRequest()
    assert control.send_to_broker(1, request) == UpdateMetadataResponse()
    assert handled == [(request, 7)]
    with pytest.raises(ConnectionError):
        control.send_to_broker(2, request)
    control.controller.context.live_brokers[2] = Broker(2, (EndPoint.parse("PLAINTEXT://h:1"),))
    assert control._end_point_of(2) == BrokerEndPoint(2, "h", 1)
    control._channels.close()
