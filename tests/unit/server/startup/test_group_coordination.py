"""The broker's group coordinators with their configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from unittest.mock import MagicMock

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup
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
        KafkaConfig(KEYS, do_log=False), MagicMock(), MetadataCache(1), InMemoryPersister, MockTime()
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


class Coordination:
    """Group coordinators, and how often the persister of share groups was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.parts = GroupCoordination(
            KafkaConfig(KEYS, do_log=False), MagicMock(), MetadataCache(1), self._persister, MockTime()
        )

    def _persister(self) -> InMemoryPersister:
        self.asked.append("persister")
        return InMemoryPersister()

    def load(self, group: GroupMetadata) -> None:
        """Tell the listeners of a group that has been loaded."""
        for listener in self.parts.coordinator.rebalancer.loaded_listeners:
            listener(group)


@pytest.fixture
def coordination() -> Iterator[Coordination]:
    made = Coordination()
    yield made
    made.parts.shutdown()  # its reapers would never wait, with a clock of the test


def test_what_serves_share_groups_is_made_for_the_first_of_them(coordination: Coordination) -> None:
    coordination.load(GroupMetadata("classic", MockTime()))
    assert coordination.asked == []
    shared = GroupMetadata("shared", MockTime())
    shared.share = ShareGroup("shared")
    coordination.load(shared)
    assert coordination.asked == ["persister"]
    assert coordination.parts.share_group_apis().handle_heartbeat
    assert coordination.parts.share_group_offset_apis().handle_describe


def test_deleting_groups_asks_what_serves_share_groups_only_for_share_groups(coordination: Coordination) -> None:
    told = list[Mapping[str, Errors]]()
    apis = coordination.parts.group_apis()
    groups = coordination.parts.group_manager
    groups.get_or_create_group("classic")
    apis._delete_states(["classic", "unknown"], told.append)
    assert (told, coordination.asked) == ([{}], [])
    groups.get_or_create_group("shared").share = ShareGroup("shared")
    apis._delete_states(["classic", "shared"], told.append)
    assert coordination.asked
