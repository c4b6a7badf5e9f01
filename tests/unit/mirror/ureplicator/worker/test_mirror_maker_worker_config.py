"""The files of a worker: their defaults, and what they must not say."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfigError
from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker_config import MirrorMakerWorkerConfig

CONSUMER = {"zookeeper.connect": "zk:2181", "group.id": "g"}
PRODUCER = {"bootstrap.servers": "b:9092"}


def a_config(**helix: str) -> MirrorMakerWorkerConfig:
    return MirrorMakerWorkerConfig(CONSUMER, PRODUCER, {key.replace("_", "."): value for key, value in helix.items()})


def test_helix_has_ubers_defaults() -> None:
    config = a_config()
    config.check()
    assert (config.zk_server, config.cluster, config.instance_id(42)) == (
        *("localhost:2181", "testMirrorMaker"),
        "HelixMirrorMaker-42",
    )
    assert (config.session_timeout_ms, config.offset_commit_interval_ms) == (30_000, 60_000)
    given = a_config(zkServer="zk:1/helix", helixClusterName="c", instanceId="w1", zk_session_timeout="6000")
    assert (given.zk_server, given.cluster, given.instance_id(42), given.session_timeout_ms) == (
        *("zk:1/helix", "c"),
        *("w1", 6000),
    )


def test_nothing_is_lost_by_default() -> None:
    config = a_config()
    consumer = config.consumer_config()
    assert (consumer["auto.commit.enable"], consumer["consumer.timeout.ms"]) == (False, 10_000)
    producer = config.producer_properties()
    assert (producer["acks"], producer["max.in.flight.requests.per.connection"]) == ("all", "1")
    assert producer["retries"] == str(2**31 - 1)
    assert not config.sends_synchronously


def test_what_the_files_say_counts() -> None:
    producer = {**PRODUCER, "acks": "1", "block.on.buffer.full": "true", "producer.type": "sync"}
    config = MirrorMakerWorkerConfig({**CONSUMER, "consumer.timeout.ms": "5"}, producer, {})
    assert config.consumer_config()["consumer.timeout.ms"] == 5
    assert config.producer_properties()["acks"] == "1"
    assert "block.on.buffer.full" not in config.producer_properties()
    assert config.sends_synchronously


@pytest.mark.parametrize(
    ("consumer", "helix", "words"),
    [
        ({"group.id": "g"}, {}, "zookeeper.connect"),
        ({"zookeeper.connect": "zk"}, {}, "group.id"),
        (CONSUMER, {"instanceId": "a/b"}, "instanceId a/b has a slash"),
        (CONSUMER, {"zk.session.timeout": "6s"}, "zk.session.timeout 6s is not a number of milliseconds"),
    ],
)
def test_a_worker_that_cannot_be_made_says_why(consumer: dict[str, str], helix: dict[str, str], words: str) -> None:
    with pytest.raises((ConfigError, MirrorMakerConfigError), match=words):
        MirrorMakerWorkerConfig(consumer, PRODUCER, helix).check()
