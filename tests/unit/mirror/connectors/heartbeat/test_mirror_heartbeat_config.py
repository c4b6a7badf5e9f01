"""Java's defaults of the heartbeat connector, and the settings that it refuses."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_config import MirrorHeartbeatConfig

REQUIRED = {"target.cluster.bootstrap.servers": "a:1"}


def test_defaults() -> None:
    config = MirrorHeartbeatConfig(REQUIRED)
    assert (config["source.cluster.alias"], config["target.cluster.alias"]) == ("source", "target")
    assert (config["heartbeats.topic.replication.factor"], config.heartbeats_interval_ms) == (3, 1000)
    assert config.heartbeats_topic == "heartbeats"


def test_without_heartbeats_there_is_no_interval() -> None:
    assert MirrorHeartbeatConfig({**REQUIRED, "emit.heartbeats.enabled": "false"}).heartbeats_interval_ms is None


def test_the_admin_client_of_the_target_has_its_security_and_nothing_of_the_source() -> None:
    protected = {"target.cluster.security.protocol": "SSL", "source.cluster.security.protocol": "SASL_SSL"}
    own = {"admin.request.timeout.ms": "1", "target.admin.request.timeout.ms": "2", "target.cluster.alias": "east"}
    assert MirrorHeartbeatConfig({**REQUIRED, **protected, **own}).client("target", "admin", "role") == {
        "client.id": "source->east|None|role",
        "bootstrap.servers": "a:1",
        "security.protocol": "SSL",
        "request.timeout.ms": 2,
        "forwarding.admin.class": "org.apache.kafka.clients.admin.ForwardingAdmin",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"replication.policy.class": "my.Policy"},
        {"emit.heartbeats.interval.seconds": "-1"},
        {"heartbeats.topic.replication.factor": "x"},
    ],
)
def test_other_settings_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        MirrorHeartbeatConfig({**REQUIRED, **wrong})
