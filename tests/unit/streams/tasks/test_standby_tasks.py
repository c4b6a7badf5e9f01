"""Standby tasks: how stores follow their changelogs, and how an active task takes them over."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import OffsetOutOfRangeError
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.errors import LockError, StreamsError
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext, StateStoreSupplier
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.standby_context_impl import StandbyContextImpl
from kafka_lite.streams.tasks.standby_state_manager import StandbyStateManager
from kafka_lite.streams.tasks.standby_task import StandbyTask
from kafka_lite.streams.tasks.standby_tasks import StandbyTasks
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.tasks.task_environment import TaskEnvironment
from kafka_lite.streams.tasks.task_manager import TaskManager

TASK = TaskId(0, 1)
MEMORY, DISK, TABLE = (TopicPartition(topic, 1) for topic in ("app-memory-changelog", "app-disk-changelog", "table"))
CHANGELOGS = {"memory": MEMORY.topic, "disk": DISK.topic, "table": TABLE.topic}


class Changelogs:
    """The restore consumer: each partition has records at the offsets 0, 1, 2, … up to its end."""

    def __init__(self, **ends: int) -> None:
        self.ends = {TopicPartition(CHANGELOGS[name], 1): end for name, end in ends.items()}
        self.starts = dict.fromkeys(self.ends, 0)
        """What lies below is removed."""
        self.without_key: set[int] = set()
        self.positions: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()
        self.timeouts: list[float] = []

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        return [PartitionInfo(*partition, None) for partition in self.ends if partition.topic == topic]

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        self.positions = dict.fromkeys(partitions, -1)
        self.paused = set()

    def unsubscribe(self) -> None:
        self.assign([])

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {partition: self.ends[partition] for partition in partitions}

    def seek(self, partition: TopicPartition, offset: int) -> None:
        assert partition in self.positions
        self.positions[partition] = offset

    def seek_to_beginning(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in partitions:
            self.seek(partition, self.starts[partition])

    def position(self, partition: TopicPartition) -> int:
        return self.positions[partition]

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        self.paused |= set(partitions)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        self.paused -= set(partitions)

    def poll(self, timeout_ms: float) -> ConsumerRecords:
        self.timeouts.append(timeout_ms)
        removed = {each: at for each, at in self.positions.items() if not self.starts[each] <= at <= self.ends[each]}
        if removed:
            raise OffsetOutOfRangeError(removed)
        found = {}
        for partition, position in self.positions.items():
            if partition not in self.paused and self.ends[partition] > position:
                found[partition] = [self.record(partition, each) for each in range(position, self.ends[partition])]
                self.positions[partition] = self.ends[partition]
        return ConsumerRecords(found)

    def record(self, partition: TopicPartition, offset: int) -> ConsumerRecord:
        key = None if offset in self.without_key else b"%d" % offset
        return ConsumerRecord(*partition, offset, 1, TimestampType.CREATE_TIME, key, b"v")


class Store(StateStore):
    """A store that notes what is restored. One in memory forgets it when it is closed."""

    def __init__(self, name: str, persistent: bool) -> None:
        self._name = name
        self._persistent = persistent
        self.entries: list[int] = []
        self.opened = 0
        self.calls: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def persistent(self) -> bool:
        return self._persistent

    @property
    def is_open(self) -> bool:
        return self.opened > 0

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        context.register(root, lambda key, _: self.entries.append(int(key)))

    def flush(self) -> None:
        self.calls.append("flush")

    def close(self) -> None:
        self.calls.append("close")
        if not self._persistent:
            self.entries.clear()


class Instance:
    """A thread of an application with three stores: in memory, on disk, and one whose changelog is its source topic."""

    def __init__(self, path: Path, consumer: Changelogs, exactly_once: bool = False) -> None:
        self.path = path
        self.consumer = consumer
        self.time = MockTime()
        self.directory = StateDirectory("app", path, self.time)
        self.exactly_once = exactly_once
        self.stores = {name: Store(name, persistent=name == "disk") for name in CHANGELOGS}
        self.committed: dict[TopicPartition, int] = {}
        self.committed_calls: list[list[TopicPartition]] = []
        self.standbys = StandbyTasks(self.create_standby, consumer, self.time)

    def committed_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        listed = list(partitions)
        self.committed_calls.append(listed)
        return {each: OffsetAndMetadata(self.committed[each]) if each in self.committed else None for each in listed}

    def arguments(self, task_id: TaskId) -> tuple[Any, ...]:
        sources = [TopicPartition("in", task_id.partition), TABLE]
        return task_id, sources, self.consumer, self.directory, CHANGELOGS, self.time, self.exactly_once

    def create_standby(self, task_id: TaskId, partitions: Collection[TopicPartition]) -> StandbyTask:
        topology: Any = type("Topology", (), {"state_stores": tuple(self.stores.values())})
        consumer: Any = type("Consumer", (), {"committed": staticmethod(self.committed_offsets)})
        serde = Serdes.byte_array()
        task = StandbyTask(
            task_id,
            partitions,
            topology,
            TaskEnvironment("app", serde, serde),
            consumer=consumer,
            state_manager=StandbyStateManager(*self.arguments(task_id)),
        )
        task.initialize()
        return task

    def activate(self, task: StandbyTask) -> ProcessorStateManager:
        """The stores of an active task that takes over."""
        manager = ProcessorStateManager(*self.arguments(task.id), standby_positions=task.hand_over())
        manager.put_offset_limit(TABLE, self.committed.get(TABLE, 0))
        for store in self.stores.values():
            manager.register(store, lambda key, _, entries=store.entries: entries.append(int(key)))
        return manager

    @property
    def entries(self) -> dict[str, list[int]]:
        return {name: store.entries.copy() for name, store in self.stores.items()}

    @property
    def checkpoint(self) -> dict[TopicPartition, int]:
        return OffsetCheckpoint(self.path / "app" / str(TASK) / ".checkpoint").read()


@pytest.fixture
def changelogs() -> Changelogs:
    return Changelogs(memory=3, disk=2, table=4)


@pytest.fixture
def instance(tmp_path: Path, changelogs: Changelogs) -> Iterator[Instance]:
    made = Instance(tmp_path, changelogs)
    yield made
    made.standbys.close(clean=False)


ASSIGNED = {TASK: frozenset({TopicPartition("in", 1), TABLE})}


def test_all_stores_follow_their_changelogs(instance: Instance, changelogs: Changelogs) -> None:
    instance.committed[TABLE] = 4
    instance.standbys.assign(ASSIGNED)
    assert instance.standbys.ids == {TASK}
    assert instance.entries == {"memory": [], "disk": [], "table": []}
    instance.standbys.maybe_update()
    assert changelogs.timeouts == [0], "it never blocks"
    assert instance.entries == {"memory": [0, 1, 2], "disk": [0, 1], "table": [0, 1, 2, 3]}
    changelogs.without_key = {3}
    changelogs.ends[MEMORY] = 5
    instance.standbys.maybe_update()
    assert instance.entries["memory"] == [0, 1, 2, 4], "a store has no place for a record without a key"
    assert instance.standbys.following[TASK].positions == {MEMORY: 5, DISK: 2, TABLE: 4}


def test_records_that_the_active_task_has_not_committed_wait(instance: Instance, changelogs: Changelogs) -> None:
    instance.committed[TABLE] = 1
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    assert instance.entries["table"] == [0]
    assert changelogs.paused == {TABLE}
    for committed, expected, paused in [(3, [0, 1, 2], {TABLE}), (4, [0, 1, 2, 3], set())]:
        instance.committed[TABLE] = committed
        instance.standbys.maybe_update()
        assert len(instance.entries["table"]) < committed, "the limit is asked for at each commit"
        instance.standbys.commit_all()
        instance.standbys.maybe_update()
        assert instance.entries["table"] == expected
        assert changelogs.paused == paused
    instance.standbys.commit_all()
    instance.standbys.maybe_update()
    assert instance.entries["table"] == [0, 1, 2, 3], "nothing is restored again"
    assert set(map(tuple, instance.committed_calls)) == {(TABLE,)}, "only changelogs have limits that matter"


def test_a_commit_writes_the_checkpoint_of_stores_on_disk(instance: Instance) -> None:
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    assert instance.checkpoint == {}
    instance.standbys.commit_all()
    assert instance.checkpoint == {DISK: 2}
    assert instance.stores["disk"].calls == ["flush"]


def test_a_standby_goes_on_at_its_checkpoint(tmp_path: Path, changelogs: Changelogs) -> None:
    for end, restored in [(2, [0, 1]), (5, [2, 3, 4])]:
        changelogs.ends[DISK] = end
        instance = Instance(tmp_path, changelogs)
        instance.standbys.assign(ASSIGNED)
        instance.standbys.maybe_update()
        assert instance.entries["disk"] == restored
        assert instance.entries["memory"] == [0, 1, 2], "what was in memory is gone"
        instance.standbys.close(clean=True)
        assert instance.checkpoint == {DISK: end}


@pytest.mark.parametrize(("start", "end"), [(3, 4), (0, 1)], ids=["retention went past it", "a new changelog"])
def test_a_standby_that_falls_out_of_its_changelog_is_created_again(
    instance: Instance, changelogs: Changelogs, start: int, end: int
) -> None:
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    instance.standbys.commit_all()
    assert instance.checkpoint == {DISK: 2}
    first = instance.standbys.following[TASK]
    outdated = instance.path / "app" / str(TASK) / "rocksdb" / "disk"
    outdated.mkdir(parents=True)
    changelogs.starts[DISK], changelogs.ends[DISK] = start, end
    instance.standbys.maybe_update()
    assert instance.checkpoint == {}
    assert not outdated.exists()
    assert instance.standbys.following[TASK] is not first
    instance.stores["disk"].entries.clear()
    instance.standbys.maybe_update()
    assert instance.entries["disk"] == list(range(start, end))
    assert instance.entries["memory"] == [0, 1, 2], "it was closed, so it has nothing twice"
    instance.standbys.commit_all()
    assert instance.checkpoint == {DISK: end}


def test_a_store_that_was_on_disk_before_and_is_in_memory_now_follows_from_the_start(
    instance: Instance, tmp_path: Path
) -> None:
    path = tmp_path / "app" / str(TASK) / ".checkpoint"
    path.parent.mkdir(parents=True)
    OffsetCheckpoint(path).write({MEMORY: 2})
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    assert instance.entries["memory"] == [0, 1, 2]


def test_without_a_clean_end_there_is_no_new_checkpoint(instance: Instance) -> None:
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    instance.standbys.close(clean=False)
    assert instance.checkpoint == {}
    assert instance.stores["memory"].calls == ["close"]


# ── rebalances ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_standby_that_stays_goes_on_where_it_was(instance: Instance, changelogs: Changelogs) -> None:
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    task = instance.standbys.following[TASK]
    instance.standbys.suspend()
    assert not changelogs.positions, "the consumer is free for restoring"
    assert instance.standbys.ids == {TASK}
    polls = len(changelogs.timeouts)
    instance.standbys.maybe_update()
    assert len(changelogs.timeouts) == polls, "it follows nothing now"
    instance.standbys.release(ASSIGNED)
    instance.standbys.assign(ASSIGNED)
    assert instance.standbys.following == {TASK: task}
    assert changelogs.positions == {MEMORY: 3, DISK: 2, TABLE: 0}
    changelogs.ends[MEMORY] = 4
    instance.standbys.maybe_update()
    assert instance.entries["memory"] == [0, 1, 2, 3]


def test_records_that_waited_are_read_again_after_a_rebalance(instance: Instance, changelogs: Changelogs) -> None:
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    assert changelogs.paused == {TABLE}
    instance.standbys.suspend()
    instance.standbys.assign(ASSIGNED)
    instance.committed[TABLE] = 4
    instance.standbys.commit_all()
    instance.standbys.maybe_update()
    assert instance.entries["table"] == [0, 1, 2, 3]


def test_a_standby_that_moves_is_closed_with_a_checkpoint(instance: Instance, tmp_path: Path) -> None:
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    instance.standbys.suspend()
    instance.standbys.release({TASK: frozenset()})
    assert not instance.standbys.ids
    assert instance.checkpoint == {DISK: 2}
    assert instance.stores["disk"].calls == ["flush", "close"]
    other = StateDirectory("app", tmp_path)
    assert other.lock(TASK)
    other.unlock(TASK)


def test_a_standby_of_a_locked_directory_is_created_later(
    instance: Instance, changelogs: Changelogs, tmp_path: Path
) -> None:
    other = StateDirectory("app", tmp_path, instance.time)
    assert other.lock(TASK)
    before_ms = instance.time.hi_res_ms()
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    assert instance.time.hi_res_ms() == before_ms, "the thread has other tasks to care for"
    other.unlock(TASK)
    instance.standbys.maybe_update()
    assert not instance.standbys.following
    instance.time.sleep(1000)
    instance.standbys.maybe_update()
    assert list(instance.standbys.following) == [TASK]
    assert instance.entries["memory"] == [0, 1, 2]
    task = instance.standbys.following[TASK]
    instance.time.sleep(1000)
    instance.standbys.maybe_update()
    assert instance.standbys.following == {TASK: task}, "it waits no more"


def test_a_locked_directory_keeps_no_other_standby_from_being_created(changelogs: Changelogs) -> None:
    tried: list[TaskId] = []

    def create(task_id: TaskId, _: object) -> None:
        tried.append(task_id)
        raise LockError("another thread has it")

    StandbyTasks(create, changelogs, MockTime()).assign(dict.fromkeys([TASK, TaskId(0, 2)], frozenset()))
    assert tried == [TASK, TaskId(0, 2)]


@pytest.mark.parametrize("failing", ["flush", "close"])
def test_a_standby_that_cannot_be_flushed_or_closed_writes_no_checkpoint_and_fails_no_rebalance(
    instance: Instance, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("no space left")

    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    monkeypatch.setattr(instance.stores["disk"], failing, fail)
    instance.standbys.close(clean=True)
    assert instance.checkpoint == {}
    assert "close" in instance.stores["memory"].calls
    assert instance.directory.lock(TASK)
    instance.directory.unlock(TASK)


def test_a_standby_that_waits_for_its_directory_is_forgotten_when_a_rebalance_begins(
    instance: Instance, tmp_path: Path
) -> None:
    other = StateDirectory("app", tmp_path, instance.time)
    assert other.lock(TASK)
    instance.standbys.assign(ASSIGNED)
    other.unlock(TASK)
    instance.standbys.suspend()
    instance.time.sleep(1000)
    instance.standbys.maybe_update()
    assert not instance.standbys.ids


def test_a_task_without_stores_has_no_standby(changelogs: Changelogs) -> None:
    standbys = StandbyTasks(lambda *_: None, changelogs, MockTime())
    standbys.assign(ASSIGNED)
    standbys.maybe_update()
    assert not standbys.following


# ── becoming active ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_active_task_restores_only_what_its_standby_did_not_have(instance: Instance, changelogs: Changelogs) -> None:
    instance.committed[TABLE] = 1
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    instance.standbys.suspend()
    task = instance.standbys.take(TASK)
    assert task is not None
    changelogs.ends.update({MEMORY: 5, DISK: 4})
    instance.committed[TABLE] = 3
    manager = instance.activate(task)
    assert instance.entries == {"memory": [0, 1, 2, 3, 4], "disk": [0, 1, 2, 3], "table": [0, 1, 2]}
    assert instance.stores["disk"].calls == ["flush", "close"], "it is opened again at its checkpoint"
    assert instance.stores["memory"].calls == ["flush"]
    manager.close({})
    assert instance.checkpoint == {DISK: 4}


def test_the_thread_that_has_the_standby_gives_its_stores_to_the_active_task(instance: Instance) -> None:
    given: list[StandbyTask | None] = []

    def create(task_id: TaskId, partitions: Collection[TopicPartition], standby: StandbyTask | None) -> Any:
        given.append(standby)
        return SimpleNamespace(id=task_id, partitions=partitions)

    tasks = TaskManager(create, instance.standbys, instance.time)
    assert tasks.requires_poll, "without a task, too"
    tasks.assign({}, ASSIGNED)
    instance.standbys.maybe_update()
    tasks.commit_all()
    assert instance.checkpoint == {DISK: 2}, "a commit is for standby tasks, too"
    standby = instance.standbys.following[TASK]
    tasks.suspend(commit=True)
    assert not instance.consumer.positions, "the restore consumer is free"
    tasks.assign({}, ASSIGNED)
    assert instance.standbys.following == {TASK: standby}
    tasks.assign(ASSIGNED, {})
    assert given == [standby]
    assert "close" not in instance.stores["memory"].calls
    standby.close_state_manager(write_checkpoint=False)


def test_with_exactly_once_the_active_task_deletes_the_checkpoint_of_its_standby(
    tmp_path: Path, changelogs: Changelogs
) -> None:
    instance = Instance(tmp_path, changelogs, exactly_once=True)
    instance.standbys.assign(ASSIGNED)
    instance.standbys.maybe_update()
    instance.standbys.commit_all()
    assert instance.checkpoint == {DISK: 2}, "what a standby restores is committed"
    instance.standbys.suspend()
    task = instance.standbys.take(TASK)
    assert task is not None
    manager = instance.activate(task)
    assert instance.checkpoint == {}
    assert instance.entries["disk"] == [0, 1]
    manager.close({})


def test_a_standby_keeps_other_threads_away(instance: Instance, tmp_path: Path, changelogs: Changelogs) -> None:
    instance.standbys.assign(ASSIGNED)
    with pytest.raises(LockError):
        Instance(tmp_path, changelogs).create_standby(TASK, ASSIGNED[TASK])


# ── the context ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_kind_of_store_can_be_filled_without_a_processor(tmp_path: Path) -> None:
    kinds: list[StateStoreSupplier[Any]] = [
        Stores.in_memory_key_value("kv", caching_enabled=True),
        Stores.in_memory_window("window", 1000, caching_enabled=True),
        Stores.in_memory_session("session", 1000),
    ]
    topics = {kind.name: f"app-{kind.name}-changelog" for kind in kinds}
    consumer: Any = type("Consumer", (), {"partitions_for": lambda _, topic: [PartitionInfo(topic, 1, None)]})()
    directory = StateDirectory("app", tmp_path, MockTime())
    manager = StandbyStateManager(TASK, [], consumer, directory, topics, MockTime())
    context = StandbyContextImpl(TASK, TaskEnvironment("app", Serdes.byte_array(), Serdes.byte_array()), manager)
    stores = [kind.get() for kind in kinds]
    for store in stores:
        store.init(context, store)
    partition = TopicPartition("app-kv-changelog", 1)
    record = ConsumerRecord(*partition, 7, 1, TimestampType.CREATE_TIME, b"key", b"value")
    assert manager.update_standby_states(partition, [record]) == []
    assert stores[0].get(b"key") == b"value"
    manager.flush()
    assert manager.positions[partition] == 8
    with pytest.raises(RuntimeError, match="timestamp is not supported in standby tasks"):
        _ = context.timestamp
    manager.close({})


def test_a_changelog_without_the_partition(instance: Instance, changelogs: Changelogs) -> None:
    del changelogs.ends[MEMORY]
    with pytest.raises(StreamsError, match=r"change log \(app-memory-changelog\) does not contain partition 1"):
        instance.standbys.assign(ASSIGNED)
    instance.directory.unlock(TASK)
