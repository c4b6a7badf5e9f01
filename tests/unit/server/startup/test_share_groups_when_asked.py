"""A broker without share groups makes nothing for them; the first request, or leadership, does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock
from uuid import UUID

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.server.apis.share.share_group_switch import OF_SHARE_GROUPS
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.startup.share_coordination import ShareCoordination
from kafka_lite.server.startup.share_groups_when_asked import LateShareCoordination, share_handlers
from kafka_lite.zookeeper.data import TopicAssignment

KEYS = {"zookeeper.connect": "zk", "broker.id": "1", "share.coordinator.state.topic.num.partitions": "4"}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[ShareCoordination]:
    """Every coordination that is made."""
    all_made: list[ShareCoordination] = []
    make = ShareCoordination.__init__

    def note(self: ShareCoordination, *args: Any) -> None:
        all_made.append(self)
        make(self, *args)

    monkeypatch.setattr(ShareCoordination, "__init__", note)
    return all_made


def late(partitions: int | None) -> LateShareCoordination:
    """A broker's, started with a topic of so many partitions, or none."""
    config = KafkaConfig(KEYS, do_log=False)
    share = LateShareCoordination(config, MagicMock(), MetadataCache(1), MagicMock(), Metrics(), MockTime())
    assignment = None if partitions is None else TopicAssignment({each: [1] for each in range(partitions)})
    share.startup(cast(Any, SimpleNamespace(get_topic_assignment=lambda _topic: assignment)))
    return share


@pytest.mark.parametrize(("partitions", "expected"), [(3, 3), (None, 4)])
def test_the_first_election_makes_it_with_the_partitions_of_the_topic(
    made: list[ShareCoordination], partitions: int | None, expected: int
) -> None:
    share = late(partitions)
    share.on_resignation(0, 1)
    share.on_topics_deleted({UUID(int=9)})
    share.shutdown()
    assert made == []
    share.on_election(2, 5)
    try:
        assert [each.coordinator._num_partitions for each in made] == [expected]
        assert share.persister() is made[0].persister
        assert share.share_state_apis().handle_read
        assert len(made) == 1
    finally:
        share.shutdown()
    assert made[0].coordinator._num_partitions is None


def test_what_is_made_hears_of_partitions_and_topics(made: list[ShareCoordination]) -> None:
    share = late(1)
    share.persister()
    real, coordinator = made[0].coordinator, MagicMock()
    made[0].coordinator = coordinator
    share.on_resignation(0, None)
    share.on_topics_deleted({UUID(int=9)})
    coordinator.on_resignation.assert_called_once_with(0, None)
    coordinator.on_topics_deleted.assert_called_once_with({UUID(int=9)})
    made[0].coordinator = real  # its thread never waits, with the clock of a test
    share.shutdown()


def test_each_request_asks_only_for_what_serves_it() -> None:
    asked: list[str] = []
    parts = {name: MagicMock(name=name) for name in ("states", "groups", "offsets", "fetch")}

    def get(name: str) -> Any:
        return lambda: asked.append(name) or parts[name]

    table = share_handlers(*map(get, parts))
    assert asked == []
    assert table.keys() >= OF_SHARE_GROUPS
    for handler in table.values():
        handler(cast(Any, "request"), "body", print)
    assert asked == [*("groups",) * 2, *("fetch",) * 2, *("offsets",) * 3, *("states",) * 5]
    handled = [str(call[0]) for part in parts.values() for call in part.method_calls]
    assert sorted(handled) == sorted(
        ["handle_heartbeat", "handle_describe", "handle_share_fetch", "handle_share_acknowledge", "handle_describe",
         "handle_alter", "handle_delete", "handle_initialize", "handle_read", "handle_write", "handle_delete",
         "handle_read_summary"]
    )  # fmt: skip
