"""Both topics are read; one that is not there yet is asked for again; groups are synced when it is time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.mirror.connectors.checkpoint.checkpoint_store import CheckpointStore
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_stores import MirrorCheckpointStores
from kafka_lite.mirror.connectors.checkpoint.offset_sync_store import OffsetSyncStore
from kafka_lite.mirror.connectors.mirror_records import Checkpoint, OffsetSync
from kafka_lite.mirror.connectors.mirror_topic_reader import MirrorTopicReader
from tests.unit.mirror.connectors.test_mirror_topic_reader import LogConsumer

T0, COPY = TopicPartition("t", 0), TopicPartition("west.t", 0)
SYNCS = [OffsetSync(T0, offset, offset) for offset in (0, 100, 200)]


class World:
    """The thread without being started, its topics, and how often groups were synced."""

    def __init__(self, sync_interval_ms: int | None = None) -> None:
        self.time = MockTime()
        self.checkpoints = CheckpointStore(["g"])
        self.syncs = OffsetSyncStore()
        self.checkpoint_log = self._log(Checkpoint("g", COPY, 150, 101, ""))
        self.sync_log = self._log(*SYNCS)
        self.group_syncs = 0
        self.stores = MirrorCheckpointStores(
            "stores", self.checkpoints, self.syncs, self._reader(self.checkpoint_log), self._reader(self.sync_log),
            self._sync_groups, sync_interval_ms, self.time,
        )  # fmt: skip
        self.paused_ms: list[float] = []
        self.stores.pause = self._pause  # type: ignore[method-assign]

    @staticmethod
    def _log(*records: Checkpoint | OffsetSync) -> LogConsumer:
        return LogConsumer(*((each.key(), each.value()) for each in records))

    @staticmethod
    def _reader(consumer: LogConsumer) -> Callable[[Any], MirrorTopicReader]:
        return lambda consumed: MirrorTopicReader(consumer, "topic", consumed)

    def _sync_groups(self) -> None:
        self.group_syncs += 1

    def _pause(self, ms: float) -> bool:
        self.paused_ms.append(ms)
        return False


def test_all_syncs_count_if_the_checkpoints_are_known() -> None:
    world = World()
    world.stores.do_work()
    assert world.stores.is_loaded
    assert not world.checkpoints.is_news(Checkpoint("g", COPY, 151, 101, ""))
    assert world.syncs.translate_downstream(T0, 150) == 101
    assert world.checkpoint_log.is_closed
    assert not world.sync_log.is_closed


def test_only_the_last_sync_counts_if_checkpoints_may_not_be_read() -> None:
    world = World()
    world.checkpoint_log.error = ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)
    world.stores.do_work()
    assert world.stores.is_loaded
    assert world.syncs.translate_downstream(T0, 150) == -1
    assert world.syncs.translate_downstream(T0, 200) == 200


@pytest.mark.parametrize("log", ["checkpoint_log", "sync_log"])
def test_a_topic_that_is_not_there_yet_is_asked_for_again(log: str) -> None:
    world = World()
    getattr(world, log).error = ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    world.stores.do_work()
    assert (world.stores.is_loaded, world.paused_ms) == (False, [1000])
    getattr(world, log).error = None
    world.stores.do_work()
    assert world.stores.is_loaded
    assert world.syncs.translate_downstream(T0, 150) == 101, "read twice, and kept once"


def test_new_syncs_are_followed() -> None:
    world = World()
    world.stores.do_work()
    new = OffsetSync(T0, 300, 300)
    world.sync_log.log.append((new.key(), new.value()))
    world.stores.do_work()
    assert world.syncs.translate_downstream(T0, 300) == 300
    assert world.sync_log.timeouts[-1] == 1000


def test_groups_are_synced_after_each_interval() -> None:
    world = World(sync_interval_ms=2500)
    world.stores.do_work()
    for _ in range(2):
        world.stores.do_work()
        world.time.sleep(1000)
    world.stores.do_work()
    assert (world.group_syncs, world.sync_log.timeouts[-1]) == (0, 500), "it waits no longer than up to the time"
    world.time.sleep(500)
    world.stores.do_work()
    assert world.group_syncs == 1
    world.stores.do_work()
    assert world.group_syncs == 1


def test_a_wake_up_ends_the_read_and_the_consumer_is_closed() -> None:
    world = World()
    world.stores.wake_up()
    world.stores.do_work()
    world.stores.wake_up()
    assert world.sync_log.is_woken
    world.checkpoint_log.error = WakeupError()
    world.stores.is_loaded = False
    world.stores.do_work()
    assert world.paused_ms == []
    world.stores.on_exit()
    assert world.sync_log.is_closed
