"""A worker's membership beside a scripted coordinator: no sockets, no threads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_lite.clients import client_utils
from kafka_lite.common.time import MockTime
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment, WorkerState, serialize_metadata
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.distributed.worker_group_member import WorkerGroupMember
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.connect.runtime.storage.config_topic import ConfigTopic
from kafka_lite.consumer.group.heartbeat_thread import HeartbeatThread
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponseMember
from tests.support.connect_samples import two_workers
from tests.support.scripted_broker import ScriptedBroker

URL = "http://127.0.0.1:28083/"
JSON = "org.apache.kafka.connect.json.JsonConverter"
PROPS = {
    "bootstrap.servers": "127.0.0.1:9092",
    "group.id": "connect-cluster",
    "key.converter": JSON,
    "value.converter": JSON,
    "internal.key.converter": JSON,
    "internal.value.converter": JSON,
    "internal.key.converter.schemas.enable": "false",
    "internal.value.converter.schemas.enable": "false",
    "config.storage.topic": "connect-configs",
    "offset.storage.topic": "connect-offsets",
    "status.storage.topic": "connect-status",
}


class Snapshots:
    """A config store: one snapshot after the other; the last one stays."""

    def __init__(self, *states: ClusterConfigState) -> None:
        self.states = list(states)

    def snapshot(self) -> ClusterConfigState:
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


class Rebalances:
    """A listener: what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Assignment, int | None]] = []

    def on_revoked(self, assignment: Assignment) -> None:
        self.told.append(("revoked", assignment, None))

    def on_assigned(self, assignment: Assignment, generation: int) -> None:
        self.told.append(("assigned", assignment, generation))


class Member:
    """A worker that becomes the leader of its group, and the broker that coordinates it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, configs: Any, **props: str) -> None:
        self.time = MockTime()
        self.broker = ScriptedBroker(self.time)
        self.listener = Rebalances()
        monkeypatch.setattr(client_utils, "Selector", lambda **_: self.broker)
        monkeypatch.setattr(HeartbeatThread, "start", lambda _self: None)
        monkeypatch.setattr(HeartbeatThread, "is_alive", lambda _self: False)
        self.member = WorkerGroupMember(DistributedConfig(PROPS | props), URL, configs, self.listener, time=self.time)


def other(member_id: str, offset: int, url: str = "http://other:8083/") -> JoinGroupResponseMember:
    """Another worker, as the leader learns of it."""
    return JoinGroupResponseMember(member_id=member_id, metadata=serialize_metadata(WorkerState(url, offset)))


def recorded_configs(offset: int) -> ClusterConfigState:
    """What the config topic of the recorded workers had up to an offset."""
    configs = ConfigTopic()
    for number, (key, value) in enumerate(two_workers()["connect-configs"]):
        if number < offset:
            configs.apply(key, None if value is None else json.loads(value), number)
    return configs.snapshot()
