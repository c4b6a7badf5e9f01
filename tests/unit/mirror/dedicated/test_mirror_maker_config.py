"""Workers and connectors of the file of connect-mirror-maker, as Java derives them."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.mirror.dedicated.mirror_maker_config import MirrorMakerConfig, SourceAndTarget

BASE = {"clusters": "west, east", "west.bootstrap.servers": "w:1", "east.bootstrap.servers": "e:1"}
WAY = SourceAndTarget("west", "east")


def pairs(**props: str) -> list[str]:
    return [str(pair) for pair in MirrorMakerConfig({**BASE, **props}).cluster_pairs()]


@pytest.mark.parametrize(
    ("props", "ways"),
    [
        ({}, ["west->east", "east->west"]),
        ({"emit.heartbeats.enabled": "false"}, []),
        ({"emit.heartbeats.enabled": "false", "west->east.enabled": "true"}, ["west->east"]),
        ({"west->east.emit.heartbeats.enabled": "false"}, ["east->west"]),
        ({"emit.heartbeats.enabled": "false", "east->west.emit.heartbeats.enabled": "true"}, ["east->west"]),
    ],
)
def test_ways_that_are_enabled_or_have_heartbeats(props: dict[str, str], ways: list[str]) -> None:
    assert pairs(**props) == ways


def test_a_worker_is_in_the_target_with_topics_named_after_the_source() -> None:
    config = MirrorMakerConfig({
        **BASE, "east.security.protocol": "SSL", "ssl.truststore.location": "/t", "east.producer.acks": "1",
        "offset.storage.replication.factor": "1", "tasks.max": "4", "refresh.topics.interval.seconds": "5",
        "east.group.id": "own",
    })  # fmt: skip
    worker = config.worker_config(WAY)
    expected = {
        "bootstrap.servers": "e:1", "producer.bootstrap.servers": "e:1", "security.protocol": "SSL",
        "consumer.security.protocol": "SSL", "admin.ssl.truststore.location": "/t", "ssl.truststore.location": "/t",
        "producer.acks": "1", "offset.storage.replication.factor": "1", "group.id": "own", "client.id": "west->east",
        "offset.storage.topic": "mm2-offsets.west.internal", "config.storage.topic": "mm2-configs.west.internal",
        "status.storage.topic": "mm2-status.west.internal", "tasks.max": "4",
        "header.converter": "org.apache.kafka.connect.converters.ByteArrayConverter", "rest.host.name": "127.0.0.1",
    }  # fmt: skip
    assert {key: worker.get(key) for key in expected} == expected
    assert "refresh.topics.interval.seconds" not in worker
    assert config.worker_config(WAY._replace(source="north"))["status.storage.topic"] == "mm2-status.north.internal"


def test_a_connector_has_both_clusters_and_what_its_way_says() -> None:
    config = MirrorMakerConfig({
        **BASE, "west.consumer.isolation.level": "read_committed", "east.security.protocol": "SSL",
        "replication.factor": "1", "topics": "a", "west->east.topics": "b", "west->east.enabled": "true",
        "east->west.topics": "c", "east.group.id": "own", "west->east.consumer.fetch.min.bytes": "9",
    })  # fmt: skip
    found = config.connector_config(WAY, "MirrorSourceConnector")
    assert found == {
        "name": "MirrorSourceConnector",
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "west", "target.cluster.alias": "east", "enabled": "true",
        "source.cluster.bootstrap.servers": "w:1", "target.cluster.bootstrap.servers": "e:1",
        "source.consumer.isolation.level": "read_committed", "target.cluster.security.protocol": "SSL",
        "target.cluster.group.id": "own", "replication.factor": "1", "topics": "b", "consumer.fetch.min.bytes": "9",
        **{f"source.{kind}.bootstrap.servers": "w:1" for kind in ("producer", "consumer", "admin")},
        **{f"target.{kind}.bootstrap.servers": "e:1" for kind in ("producer", "consumer", "admin")},
        **{f"target.{kind}.security.protocol": "SSL" for kind in ("producer", "consumer", "admin")},
    }  # fmt: skip
    back = config.connector_config(SourceAndTarget("east", "west"), "MirrorCheckpointConnector")
    assert (back["enabled"], back["topics"], back["source.cluster.alias"]) == ("false", "c", "east")


@pytest.mark.parametrize("missing", ["clusters", "east.bootstrap.servers"])
def test_clusters_and_their_brokers_are_needed(missing: str) -> None:
    with pytest.raises(ConfigError, match=missing):
        MirrorMakerConfig({key: value for key, value in BASE.items() if key != missing})
