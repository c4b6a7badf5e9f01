"""How a distributed worker's topics are created. (Its other keys are in ``test_worker_config``.)"""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.runtime.distributed.distributed_config import CONFIG, DistributedConfig
from tests.unit.connect.runtime.test_worker_config import GROUP


def _shape(config: DistributedConfig, kind: str) -> tuple[str, int, int]:
    topic = config.internal_topic(kind)
    return topic.name, topic.partitions, topic.replication_factor


def test_the_topics_have_kafkas_partitions_and_replicas() -> None:
    config = DistributedConfig(GROUP)
    assert [_shape(config, kind) for kind in ("offset", "config", "status")] == [
        ("connect-offsets", 25, 3), ("connect-configs", 1, 3), ("connect-status", 5, 3),
    ]  # fmt: skip
    topic = config.internal_topic("status")
    assert (topic.setting, topic.purpose, topic.configs) == ("status.storage.topic", "connector and task statuses", {})


def test_they_are_configured_each_by_its_prefix() -> None:
    config = DistributedConfig(
        GROUP
        | {
            "offset.storage.partitions": "-1",
            "offset.storage.replication.factor": "-1",
            "status.storage.partitions": "7",
            "config.storage.replication.factor": "2",
            "config.storage.min.insync.replicas": "2",
        }
    )
    assert [_shape(config, kind)[1:] for kind in ("offset", "config", "status")] == [(-1, -1), (1, 2), (7, 3)]
    assert config.internal_topic("config").configs == {"min.insync.replicas": "2"}


def test_what_a_worker_decides_itself_is_not_configured(caplog: pytest.LogCaptureFixture) -> None:
    own = {"config.storage.partitions": "3", "config.storage.cleanup.policy": "delete"}
    with caplog.at_level(logging.WARNING):
        topic = DistributedConfig(GROUP | own).internal_topic("config")
    assert (topic.partitions, topic.configs) == (1, {})
    assert [record.getMessage() for record in caplog.records] == [
        "Ignoring 'config.storage.partitions=3' setting, since config topic partitions is always 1",
        "Ignoring 'config.storage.cleanup.policy=delete' setting, since compaction is always used",
    ]


@pytest.mark.parametrize("value", ["0", "-2"])
def test_numbers_are_positive_or_the_brokers_default(value: str) -> None:
    with pytest.raises(ConfigError, match="Number of partitions must be positive, or -1 to use the broker's default"):
        DistributedConfig(GROUP | {"offset.storage.partitions": value})
    with pytest.raises(ConfigError, match="Replication factor must be positive and not larger than the number of bro"):
        DistributedConfig(GROUP | {"status.storage.replication.factor": value})


def test_the_valid_numbers_are_described_in_kafkas_words() -> None:
    described = {
        key: str(CONFIG.keys[key].validator)
        for key in ("offset.storage.partitions", "config.storage.replication.factor")
    }
    assert list(described.values()) == [
        "Positive number, or -1 to use the broker's default",
        "Positive number not larger than the number of brokers in the Kafka cluster, or -1 to use the broker's default",
    ]


def test_the_admin_client_has_the_worker_s_own_keys() -> None:
    config = DistributedConfig(GROUP | {"default.api.timeout.ms": "5000", "admin.client.id": "other"})
    assert config.internal_admin() == {
        "bootstrap.servers": "a:1,b:2", "client.id": "w", "default.api.timeout.ms": "5000",
    }  # fmt: skip
