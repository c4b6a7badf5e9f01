"""The connector of heartbeats: its topic in the target, and its one task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.runtime.plugin_discovery import connector_class
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_connector import MirrorHeartbeatConnector
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_task import MirrorHeartbeatTask

PROPS = {
    "name": "heartbeats", "source.cluster.alias": "west", "target.cluster.alias": "east",
    "target.cluster.bootstrap.servers": "a:1,b:2", "heartbeats.topic.replication.factor": "1",
}  # fmt: skip


class FakeAdmin:
    created: ClassVar[list[tuple[object, ...]]] = []

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.to = (configs["bootstrap.servers"], configs["client.id"])

    def ensure_exists(
        self, topic: str, partitions: int, replication_factor: int, configs: Mapping[str, str] | None = None
    ) -> bool:
        self.created.append((*self.to, topic, partitions, replication_factor, dict(configs or {})))
        return True


@pytest.fixture
def connector(monkeypatch: pytest.MonkeyPatch) -> MirrorHeartbeatConnector:
    monkeypatch.setattr(FakeAdmin, "created", [])
    return MirrorHeartbeatConnector(FakeAdmin)


def test_it_creates_a_compacted_topic_in_the_target(connector: MirrorHeartbeatConnector) -> None:
    connector.start(PROPS)
    assert FakeAdmin.created == [
        ("a:1,b:2", "west->east|heartbeats|heartbeats-target-admin", "heartbeats", 1, 1, {"cleanup.policy": "compact"})
    ]


@pytest.mark.parametrize(("enabled", "tasks"), [("true", [PROPS | {"emit.heartbeats.enabled": "true"}]), ("false", [])])
def test_it_has_one_task_or_none(connector: MirrorHeartbeatConnector, enabled: str, tasks: list[object]) -> None:
    connector.start(PROPS | {"emit.heartbeats.enabled": enabled})
    assert connector.task_configs(5) == tasks
    assert connector.task_class() is MirrorHeartbeatTask
    connector.stop()


def test_without_a_target_it_does_not_start(connector: MirrorHeartbeatConnector) -> None:
    with pytest.raises(ConfigError, match=r"target\.cluster\.bootstrap\.servers"):
        connector.start({"name": "heartbeats"})
    assert FakeAdmin.created == []


@pytest.mark.parametrize("name", ["MirrorHeartbeat", "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector"])
def test_a_worker_finds_it_under_javas_name(name: str) -> None:
    assert connector_class(name) is MirrorHeartbeatConnector
