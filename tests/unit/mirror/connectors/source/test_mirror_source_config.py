"""Java's defaults, and the configurations of tasks."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.source.mirror_source_config import MirrorSourceConfig
from tests.support.mirror_clusters import BOTH


def test_defaults() -> None:
    config = MirrorSourceConfig(BOTH)
    assert (config["replication.factor"], config["offset-syncs.topic.replication.factor"]) == (2, 3)
    assert (config["offset.lag.max"], config["consumer.poll.timeout.ms"]) == (100, 1000)
    assert config.interval_ms("refresh.topics") == config.interval_ms("sync.topic.configs") == 600_000
    assert config.topic_filter.should_replicate_topic("anything")


def test_an_interval_may_be_disabled() -> None:
    config = MirrorSourceConfig({**BOTH, "refresh.topics.enabled": "false"})
    assert config.interval_ms("refresh.topics") is None


def test_a_task_gets_its_partitions() -> None:
    partitions = [TopicPartition("a-b", 0), TopicPartition("c", 11)]
    props = MirrorSourceConfig(BOTH).task_config(partitions, 2)
    assert props == {**BOTH, "task.assigned.partitions": "a-b-0,c-11", "task.index": "2"}
    task = MirrorSourceConfig(props)
    assert task.task_partitions == partitions
    assert task.label == "west->east|copy-2"
    assert MirrorSourceConfig(BOTH).task_partitions == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"topics": "["},
        {"topic.filter.class": "my.Filter"},
        {"offset-syncs.topic.location": "elsewhere"},
        {"offset.lag.max": "-1"},
        {"refresh.topics.interval.seconds": "0"},
    ],
)
def test_other_settings_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        MirrorSourceConfig({**BOTH, **wrong})
