"""Stores of a task are restored from their changelogs, from the checkpoint on, and leave a checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import OffsetOutOfRangeError
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.errors import LockError, ProcessorStateError, StreamsError, TaskCorruptedError
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.state_directory import StateDirectory

TASK = TaskId(0, 1)
CHANGELOG = TopicPartition("app-store-changelog", 1)


def directory_in(path: Path) -> StateDirectory:
    return StateDirectory("app", path, MockTime())


def is_lock_free(path: Path) -> bool:
    directory = directory_in(path)
    try:
        return directory.lock(TASK)
    finally:
        directory.unlock(TASK)


class FakeConsumer:
    """One partition with records at some offsets, two of them per poll."""

    def __init__(
        self,
        offsets: Iterable[int],
        end: int,
        partition: TopicPartition = CHANGELOG,
        without_key: Collection[int] = (),
    ) -> None:
        self._offsets = list(offsets)
        self._without_key = without_key
        self._end = end
        self._of = partition
        self._position = 0
        self.start = 0
        """What lies below is removed."""
        self.assigned: list[TopicPartition] = []

    def partitions_for(self, topic: str) -> tuple[PartitionInfo, ...]:
        return (PartitionInfo(topic, self._of.partition, None),) if topic == self._of.topic else ()

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        self.assigned = list(partitions)

    def unsubscribe(self) -> None:
        self.assigned = []

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, self._end)

    def seek_to_beginning(self, _: Iterable[TopicPartition]) -> None:
        self._position = self.start

    def seek(self, _: TopicPartition, offset: int) -> None:
        self._position = offset

    def position(self, _: TopicPartition) -> int:
        return self._position

    def poll(self, _: float) -> ConsumerRecords:
        if self._position < self.start:
            raise OffsetOutOfRangeError({self._of: self._position})
        found = [offset for offset in self._offsets if offset >= self._position][:2]
        self._position = found[-1] + 1 if len(found) == 2 else self._end
        kind = TimestampType.CREATE_TIME
        keys = {offset: None if offset in self._without_key else b"%d" % offset for offset in found}
        records = [ConsumerRecord(*self._of, offset, 1, kind, keys[offset], b"v") for offset in found]
        return ConsumerRecords({self._of: records})


class Store(StateStore):
    """A store that remembers what was restored."""

    name, is_open = "store", True

    def __init__(self, persistent: bool) -> None:
        self._persistent = persistent
        self.restored: list[int] = []

    @property
    def persistent(self) -> bool:
        return self._persistent

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        context.register(root, self.restore)

    def restore(self, key: bytes, _: bytes | None) -> None:
        self.restored.append(int(key))

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def manager_of(
    tmp_path: Path, consumer: FakeConsumer, changelog: str = CHANGELOG.topic, sources: Iterable[TopicPartition] = ()
) -> ProcessorStateManager:
    given: Any = consumer
    return ProcessorStateManager(TASK, sources, given, directory_in(tmp_path), {"store": changelog}, MockTime())


def restored(manager: ProcessorStateManager, persistent: bool) -> list[int]:
    store = Store(persistent)
    manager.register(store, store.restore)
    return store.restored


def test_a_store_in_memory_is_restored_from_the_beginning(tmp_path: Path) -> None:
    for _ in range(2):
        consumer = FakeConsumer([0, 3, 4, 8], end=10)
        manager = manager_of(tmp_path, consumer)
        assert restored(manager, persistent=False) == [0, 3, 4, 8]
        assert not consumer.assigned
        manager.close({CHANGELOG: 9})
        assert OffsetCheckpoint(tmp_path / "app" / "0_1" / ".checkpoint").read() == {}


def test_a_persistent_store_continues_at_its_checkpoint(tmp_path: Path) -> None:
    manager = manager_of(tmp_path, FakeConsumer([0, 3], end=4))
    assert restored(manager, persistent=True) == [0, 3]
    manager.close({})
    assert OffsetCheckpoint(tmp_path / "app" / "0_1" / ".checkpoint").read() == {CHANGELOG: 4}
    manager = manager_of(tmp_path, FakeConsumer([0, 3, 4, 6], end=7))
    assert restored(manager, persistent=True) == [4, 6]
    manager.close({CHANGELOG: 9})
    manager = manager_of(tmp_path, FakeConsumer(range(12), end=12))
    assert restored(manager, persistent=True) == [10, 11]
    manager.close(None)
    manager = manager_of(tmp_path, FakeConsumer(range(12), end=12))
    assert restored(manager, persistent=True) == [10, 11], "after an error there is no new checkpoint"
    manager.close({})


def test_a_store_that_was_on_disk_before_and_is_in_memory_now_is_restored_from_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "app" / "0_1" / ".checkpoint"
    path.parent.mkdir(parents=True)
    OffsetCheckpoint(path).write({CHANGELOG: 2})
    manager = manager_of(tmp_path, FakeConsumer([0, 1, 2], end=3))
    assert restored(manager, persistent=False) == [0, 1, 2]
    manager.close({})


@pytest.mark.parametrize(("start", "end"), [(6, 8), (0, 3)], ids=["retention went past it", "a new changelog"])
def test_a_store_whose_changelog_lacks_the_offset_of_the_checkpoint_is_rebuilt(
    tmp_path: Path, start: int, end: int, caplog: pytest.LogCaptureFixture
) -> None:
    manager = manager_of(tmp_path, FakeConsumer(range(5), end=5))
    restored(manager, persistent=True)
    manager.close({})
    files = [tmp_path / "app" / "0_1" / "rocksdb" / "store" / "CURRENT", tmp_path / "app" / "0_1" / "store" / "segment"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.touch()
    consumer = FakeConsumer(range(start, end), end)
    consumer.start = start
    manager = manager_of(tmp_path, consumer)
    manager.initialize([Store(persistent=True)])
    assert all(file.exists() for file in files), "the checkpoint may fit"
    with pytest.raises(TaskCorruptedError, match="app-store-changelog-1: 5"):
        restored(manager, persistent=True)
    assert "Deleting the store to recreate it from scratch" in caplog.text
    manager.close(None)
    assert OffsetCheckpoint(tmp_path / "app" / "0_1" / ".checkpoint").read() == {}
    manager = manager_of(tmp_path, consumer)  # the task is created once more
    manager.initialize([Store(persistent=True), Store(persistent=False)])
    assert not any(file.parent.exists() for file in files)
    assert restored(manager, persistent=True) == list(range(start, end))
    manager.close({})


def test_files_that_cannot_be_deleted_end_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise OSError("read-only file system")

    manager = manager_of(tmp_path, FakeConsumer([], 0))
    (manager.base_dir / "store").mkdir()
    monkeypatch.setattr("shutil.rmtree", refuse)
    with pytest.raises(ProcessorStateError, match=r"Failed to delete the files of store store at .*: read-only"):
        manager.initialize([Store(persistent=True)])
    manager.close(None)


def test_a_store_without_a_changelog_keeps_its_files(tmp_path: Path) -> None:
    given: Any = FakeConsumer([], 0)
    manager = ProcessorStateManager(TASK, [], given, directory_in(tmp_path), {}, MockTime())
    (manager.base_dir / "store").mkdir()
    manager.initialize([Store(persistent=True)])
    assert (manager.base_dir / "store").exists()
    manager.close(None)


def test_a_store_whose_files_are_lost_has_no_checkpoint_on_disk_either(tmp_path: Path) -> None:
    """Otherwise a crash while it is restored leaves a part of it for the whole."""
    manager = manager_of(tmp_path, FakeConsumer([0, 3], end=4))
    restored(manager, persistent=True)
    manager.close({})
    manager = manager_of(tmp_path, FakeConsumer([0, 3], end=4))
    assert manager.forget_checkpoint("store", "its files are gone")
    assert not manager.forget_checkpoint("other", "it has no changelog")
    assert OffsetCheckpoint(tmp_path / "app" / "0_1" / ".checkpoint").read() == {}
    assert restored(manager, persistent=True) == [0, 3]
    manager.close({})
    path = tmp_path / "app" / "0_1" / ".checkpoint"
    manager = manager_of(tmp_path, FakeConsumer([0, 3], end=4))
    path.unlink()  # as with exactly_once
    manager.forget_checkpoint("store", "its files are gone")
    assert not path.exists()
    manager.close(None)


def test_a_checkpoint_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left")

    manager = manager_of(tmp_path, FakeConsumer([0, 3], end=4))
    restored(manager, persistent=True)
    monkeypatch.setattr(OffsetCheckpoint, "write", fail)
    manager.close({})
    assert is_lock_free(tmp_path)


@pytest.mark.parametrize(
    ("error", "raised"), [(ValueError("no"), ProcessorStateError), (OSError("no"), OSError), (StreamsError("no"), None)]
)
def test_what_a_cache_passes_on_may_fail_a_flush(
    tmp_path: Path, error: Exception, raised: type[Exception] | None
) -> None:
    class Failing(Store):
        """A store whose flush fails."""

        def flush(self) -> None:
            raise error

    manager = manager_of(tmp_path, FakeConsumer([], 0))
    store = Failing(persistent=True)
    manager.register(store, store.restore)
    with pytest.raises(raised or StreamsError) as caught:
        manager.flush()
    assert error in (caught.value, caught.value.__cause__)
    assert type(caught.value) is (raised or StreamsError)
    manager.close(None)


def test_a_store_cannot_have_the_name_of_the_checkpoint(tmp_path: Path) -> None:
    manager, store = manager_of(tmp_path, FakeConsumer([], 0)), Store(persistent=True)
    store.name = ".checkpoint"
    with pytest.raises(ValueError, match=r"Illegal store name: \.checkpoint"):
        manager.register(store, store.restore)
    manager.close(None)


def test_a_changelog_that_was_just_created_is_awaited(tmp_path: Path) -> None:
    consumer = FakeConsumer([0, 3], end=4)
    answers: list[tuple[PartitionInfo, ...]] = [(), (PartitionInfo(CHANGELOG.topic, 0, None),)]
    partitions_for = consumer.partitions_for
    consumer.partitions_for = lambda topic: answers.pop(0) if answers else partitions_for(topic)  # type: ignore[method-assign]
    manager = manager_of(tmp_path, consumer)
    assert restored(manager, persistent=False) == [0, 3]
    manager.close(None)


def test_a_damaged_checkpoint_restores_everything(tmp_path: Path) -> None:
    path = tmp_path / "app" / "0_1" / ".checkpoint"
    path.parent.mkdir(parents=True)
    path.write_text("garbage")
    manager = manager_of(tmp_path, FakeConsumer([0, 1], end=2))
    assert restored(manager, persistent=True) == [0, 1]
    manager.close({})
    assert OffsetCheckpoint(path).read() == {CHANGELOG: 2}


def test_a_source_topic_is_restored_up_to_its_committed_offset(tmp_path: Path) -> None:
    source = TopicPartition("table", 1)
    for committed, expected in [(0, []), (3, [0, 1, 2]), (99, [0, 1, 2, 3, 4])]:
        manager = manager_of(tmp_path, FakeConsumer(range(5), 5, source), "table", [source])
        manager.put_offset_limit(source, committed)
        assert restored(manager, persistent=False) == expected
        manager.close({})


def test_a_checkpoint_of_a_source_topic_does_not_go_beyond_its_committed_offset(tmp_path: Path) -> None:
    """The source partition is not always that of the task: an application may have its own partition grouper."""
    source = TopicPartition("table", 3)
    manager = manager_of(tmp_path, FakeConsumer(range(5), 5, source), "table", [source])
    manager.put_offset_limit(source, 3)
    assert restored(manager, persistent=True) == [0, 1, 2]
    manager.close({})
    assert OffsetCheckpoint(tmp_path / "app" / "0_1" / ".checkpoint").read() == {source: 3}


def test_a_task_without_stores_leaves_no_checkpoint(tmp_path: Path) -> None:
    manager_of(tmp_path, FakeConsumer([], 0)).close({})
    assert not (tmp_path / "app" / "0_1" / ".checkpoint").exists()


def test_a_record_without_a_key_is_not_restored(tmp_path: Path) -> None:
    source = TopicPartition("table", 1)
    manager = manager_of(tmp_path, FakeConsumer(range(5), 5, source, without_key={1, 4}), "table", [source])
    manager.put_offset_limit(source, 5)
    assert restored(manager, persistent=True) == [0, 2, 3]
    manager.close({})
    assert OffsetCheckpoint(tmp_path / "app" / "0_1" / ".checkpoint").read() == {source: 5}


def test_a_store_that_cannot_be_closed_keeps_no_other_open(tmp_path: Path) -> None:
    """Otherwise the next task of this process finds the other's files locked."""
    manager = manager_of(tmp_path, FakeConsumer([], 0))
    closed: list[str] = []

    class Closing(Store):
        """Notes that it was closed; the first one fails."""

        def __init__(self, name: str) -> None:
            super().__init__(persistent=True)
            self.name = name

        def close(self) -> None:
            closed.append(self.name)
            if self.name == "first":
                raise ProcessorStateError("no space left")

    for name in ("first", "second"):
        store = Closing(name)
        manager.register(store, store.restore)
    with pytest.raises(ProcessorStateError, match="no space left"):
        manager.close({})
    assert closed == ["first", "second"]
    assert not (tmp_path / "app" / "0_1" / ".checkpoint").exists()
    manager_of(tmp_path, FakeConsumer([], 0)).close({})


def test_a_changelog_without_the_partition(tmp_path: Path) -> None:
    manager = manager_of(tmp_path, FakeConsumer([], 0), "unknown")
    with pytest.raises(StreamsError, match=r"change log \(unknown\) does not contain partition 1"):
        restored(manager, persistent=False)
    manager.close(None)


def test_a_task_that_another_thread_has(tmp_path: Path) -> None:
    manager = manager_of(tmp_path, FakeConsumer([], 0))
    with pytest.raises(LockError, match="Failed to lock the state directory for task 0_1"):
        manager_of(tmp_path, FakeConsumer([], 0))
    manager.close({})
    manager_of(tmp_path, FakeConsumer([], 0)).close({})
