"""The settings of both clusters, and of each client that they describe."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.mirror.connectors.mirror_connector_config import MirrorConnectorConfig, copying_config_def
from kafka_lite.mirror.connectors.replication_policy import IdentityReplicationPolicy
from tests.support.mirror_clusters import BOTH


def a_config(**props: str) -> MirrorConnectorConfig:
    return MirrorConnectorConfig(copying_config_def(), BOTH | props)


def test_a_client_has_the_settings_of_its_cluster_then_of_its_kind() -> None:
    config = a_config(
        **{
            "source.cluster.security.protocol": "SSL",
            "source.cluster.fetch.min.bytes": "1",
            "consumer.fetch.min.bytes": "2",
            "consumer.max.poll.records": "5",
            "source.consumer.max.poll.records": "7",
            "producer.acks": "1",
            "target.consumer.max.poll.records": "9",
        }
    )
    assert config.client("source", "consumer", "role") == {
        "bootstrap.servers": "w:1",
        "security.protocol": "SSL",
        "fetch.min.bytes": "2",
        "max.poll.records": "7",
        "enable.auto.commit": "false",
        "auto.offset.reset": "earliest",
        "client.id": "west->east|copy|role",
    }
    assert config.client("target", "producer", "role") == {
        "bootstrap.servers": "e:1",
        "acks": "1",
        "client.id": "west->east|copy|role",
    }


def test_keys_of_the_connector_are_not_keys_of_a_consumer() -> None:
    assert "poll.timeout.ms" not in a_config(**{"consumer.poll.timeout.ms": "5"}).client("source", "consumer", "role")


@pytest.mark.parametrize(
    ("given", "waits_ms"),
    [({}, 30_000), ({"admin.timeout.ms": "5000"}, 5_000), ({"admin.request.timeout.ms": "70000"}, 60_000)],
)
def test_an_admin_waits_no_longer_than_it_may(given: dict[str, str], waits_ms: int) -> None:
    config = a_config(**given)
    client = config.client("target", "admin", "role")
    assert client["request.timeout.ms"] == waits_ms
    assert "timeout.ms" not in client
    assert "request.timeout.ms" not in config.client("target", "producer", "role")


def test_a_user_chooses_where_to_begin_but_not_to_commit() -> None:
    config = a_config(**{"consumer.auto.offset.reset": "latest", "consumer.enable.auto.commit": "true"})
    client = config.client("source", "consumer", "role")
    assert (client["auto.offset.reset"], client["enable.auto.commit"]) == ("latest", "false")


def test_client_ids_name_the_user_the_mirror_and_the_task() -> None:
    config = a_config(**{"admin.client.id": "mine", "task.index": "3"})
    assert config.client("source", "admin", "role")["client.id"] == "mine|west->east|copy-3|role"


@pytest.mark.parametrize(
    ("location", "topic"), [("source", "mm2-offset-syncs.east.internal"), ("target", "mm2-offset-syncs.west.internal")]
)
def test_the_topic_of_offset_syncs_is_named_after_the_other_cluster(location: str, topic: str) -> None:
    config = a_config(**{"offset-syncs.topic.location": location})
    assert (config.offset_syncs_cluster, config.offset_syncs_topic) == (location, topic)
    assert config.checkpoints_topic == "west.checkpoints.internal"


def test_the_policy_has_the_settings_too() -> None:
    policy = a_config(
        **{"replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"}
    ).policy
    assert isinstance(policy, IdentityReplicationPolicy)
    assert policy.topic_source("t") == "west"


@pytest.mark.parametrize("missing", ["source.cluster.bootstrap.servers", "target.cluster.bootstrap.servers"])
def test_both_clusters_are_needed(missing: str) -> None:
    with pytest.raises(ConfigError, match=missing):
        MirrorConnectorConfig(copying_config_def(), {key: value for key, value in BOTH.items() if key != missing})
