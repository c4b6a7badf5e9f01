"""The broker's group coordinators with their configuration."""

from __future__ import annotations

from unittest.mock import MagicMock

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.startup.group_coordination import GroupCoordination, group_config, offset_config
from kafka_lite.zookeeper.data import TopicAssignment
from tests.support.in_memory_persister import InMemoryPersister

KEYS = {"zookeeper.connect": "zk"}


def test_minutes_become_milliseconds() -> None:
    config = KafkaConfig({**KEYS, "offsets.retention.minutes": "2", "group.max.size": "9"}, do_log=False)
    assert offset_config(config).retention_ms == 120_000
    assert group_config(config).max_size == 9


def test_both_kinds_of_groups_have_one_cache_and_the_partitions_of_the_topic() -> None:
    coordination = GroupCoordination(
        KafkaConfig(KEYS, do_log=False), MagicMock(), MetadataCache(1), InMemoryPersister(), MockTime()
    )
    zk_client = MagicMock()
    zk_client.get_topic_assignment.return_value = TopicAssignment({number: [1] for number in range(7)})
    coordination.startup(zk_client)
    try:
        assert all(coordination.group_manager.partition_for(name) < 7 for name in "abcdefghijkl")
        assert coordination.coordinator.check_group("g") is Errors.NOT_COORDINATOR
        assert coordination.consumer_groups.handle_describe("g").error_code == Errors.NOT_COORDINATOR.code
        assert coordination.consumer_group_apis(None).handle_heartbeat
    finally:
        coordination.shutdown()
    assert coordination.coordinator.check_group("g") is Errors.COORDINATOR_NOT_AVAILABLE
