"""The connector of heartbeats: its topic in the target, and its one task."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.plugin_discovery import connector_class
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_connector import MirrorHeartbeatConnector
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_task import MirrorHeartbeatTask
from tests.support.mirror_clusters import BOTH, FakeClusters

PROPS = {**BOTH, "name": "heartbeats", "heartbeats.topic.replication.factor": "1"}


def a_connector(clusters: FakeClusters, **props: str) -> MirrorHeartbeatConnector:
    connector = MirrorHeartbeatConnector(clusters.admin)
    clusters.initialize(connector)
    connector.start({**PROPS, **props})
    return connector


def test_it_creates_a_compacted_topic_in_the_target() -> None:
    clusters = FakeClusters()
    a_connector(clusters).stop()
    assert (clusters.target.compacted, clusters.source.compacted) == ({"heartbeats": 1}, {})
    assert clusters.client_ids == ["west->east|heartbeats|heartbeats-target-admin"]


def test_a_target_that_is_down_is_asked_again() -> None:
    clusters = FakeClusters()
    clusters.target.is_down = True
    connector = a_connector(clusters)
    with pytest.raises(ConnectError, match="does not respond"):
        connector.retry()
    clusters.target.is_down = False
    connector.retry()
    connector.retry()
    assert (clusters.target.compacted, clusters.reconfigurations) == ({"heartbeats": 1}, 1)
    connector.stop()


@pytest.mark.parametrize(("enabled", "tasks"), [("true", [PROPS | {"emit.heartbeats.enabled": "true"}]), ("false", [])])
def test_it_has_one_task_or_none(enabled: str, tasks: list[object]) -> None:
    connector = a_connector(FakeClusters(), **{"emit.heartbeats.enabled": enabled})
    assert connector.task_configs(5) == tasks
    assert connector.task_class() is MirrorHeartbeatTask
    connector.stop()


def test_without_a_target_it_does_not_start() -> None:
    with pytest.raises(ConfigError, match=r"target\.cluster\.bootstrap\.servers"):
        MirrorHeartbeatConnector().start({"name": "heartbeats"})


def test_offsets_may_be_altered_if_they_are_of_pairs_of_clusters() -> None:
    connector = MirrorHeartbeatConnector()
    pair = {"sourceClusterAlias": "west", "targetClusterAlias": "east"}
    assert connector.alter_offsets({}, [(pair, {"offset": 0}), ({"any": 1}, None)])
    with pytest.raises(ConnectError, match="the only accepted value is 0"):
        connector.alter_offsets({}, [(pair, {"offset": 3})])
    with pytest.raises(ConnectError, match="missing the 'targetClusterAlias' key"):
        connector.alter_offsets({}, [({"sourceClusterAlias": "west"}, {"offset": 0})])


@pytest.mark.parametrize("name", ["MirrorHeartbeat", "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector"])
def test_a_worker_finds_it_under_javas_name(name: str) -> None:
    assert connector_class(name) is MirrorHeartbeatConnector
