"""Stores on disk: order, segments as directories, what a restart restores, and damaged files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.errors import InvalidStateStoreError, ProcessorStateError, StreamsError
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.processor.state_store import StateStore
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.state.rocksdb.bulk_load import BATCH_SIZE
from kafka_lite.streams.state.rocksdb.database import Database
from kafka_lite.streams.state.rocksdb.rocksdb_config_setter import RocksDBConfigSetter
from kafka_lite.streams.state.rocksdb.rocksdb_segmented_bytes_store import (
    RocksDBSegment,
    RocksDBSegmentedBytesStore,
    segment_id_of,
    segment_name,
)
from kafka_lite.streams.state.rocksdb.rocksdb_store import RocksDBStore
from kafka_lite.streams.state.windowed.key_schema import MAX_TIME, WINDOW_SUFFIX, WindowStoreKeySchema
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.standby_state_manager import StandbyStateManager
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from tests.support.examples import examples
from tests.support.full_disk import SmallDisk
from tests.support.patience import patient_s

TASK = TaskId(0, 0)
CHANGELOG = TopicPartition("app-store-changelog", 0)
MINUTE = 60_000
Changes = list[tuple[bytes, bytes | None]]


class Changelog:
    """A changelog partition, and a consumer of it that counts what it reads."""

    def __init__(self, changes: Iterable[tuple[bytes, bytes | None]] = ()) -> None:
        self.changes: Changes = list(changes)
        self.read = 0
        self._position = 0

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        return [PartitionInfo(topic, 0, None)]

    def assign(self, _: object) -> None:
        pass

    def unsubscribe(self) -> None:
        pass

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, len(self.changes))

    def seek_to_beginning(self, _: object) -> None:
        self._position = 0

    def seek(self, _: object, offset: int) -> None:
        self._position = offset

    def position(self, _: object) -> int:
        return self._position

    def poll(self, _: float) -> ConsumerRecords:
        batch = self.changes[self._position : self._position + 700]
        kind = TimestampType.CREATE_TIME
        records = [ConsumerRecord(*CHANGELOG, self._position + i, 1, kind, *pair) for i, pair in enumerate(batch)]
        self._position += len(batch)
        self.read += len(batch)
        return ConsumerRecords({CHANGELOG: records})


class Task:
    """A task's state manager, with the part of a context that a store uses."""

    def __init__(
        self,
        state_dir: Path,
        changelog: Changelog,
        *,
        logged: bool = True,
        configs: Any = None,
        kind: type[ProcessorStateManager] = ProcessorStateManager,
    ) -> None:
        consumer: Any = changelog
        topics = {"store": CHANGELOG.topic} if logged else {}
        directory = StateDirectory("app", state_dir, MockTime())
        self.changelog = changelog
        self.task_id = TASK
        self.metrics = StreamsMetricsImpl(Metrics())
        self.manager = kind(TASK, [], consumer, directory, topics, MockTime())
        self.app_configs: Mapping[str, object] = configs or {}
        self.state_dir = self.manager.base_dir
        self.register = self.manager.register
        self.forget_checkpoint = self.manager.forget_checkpoint

    def opened(self, store: Any) -> Any:
        context: Any = self
        store.init(context, store)
        return store

    def write(self, store: StateStore, *changes: tuple[bytes, bytes | None]) -> None:
        for key, value in changes:
            store.put(key, value)  # type: ignore[attr-defined]
            self.changelog.changes.append((key, value))

    def commit(self) -> None:
        self.manager.flush()
        self.manager.checkpoint({CHANGELOG: len(self.changelog.changes) - 1})

    def close(self) -> None:
        self.manager.close({CHANGELOG: len(self.changelog.changes) - 1})


def windows(name: str = "store", interval_ms: int = MINUTE) -> RocksDBSegmentedBytesStore:
    return RocksDBSegmentedBytesStore(name, 2 * interval_ms, 3, WindowStoreKeySchema())


def window_key(key: bytes, time: int) -> bytes:
    return key + WINDOW_SUFFIX.pack(time, 0)


KINDS = {
    "key-value": (RocksDBStore, [(b"%d" % number, b"v%d" % number) for number in range(5)]),
    "windows": (windows, [(window_key(b"k", number * MINUTE), b"v%d" % number) for number in range(2, 5)]),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def content(store: Any, changes: Iterable[tuple[bytes, bytes | None]]) -> list[bytes | None]:
    return [store.get(key) for key, _ in changes]


def database_of(store_dir: Path) -> Path:
    """A database of a store: the store's own, or that of its first segment."""
    return min(path.parent for path in store_dir.rglob("CURRENT"))


# ── maps ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.binary(max_size=3), st.none() | st.binary(max_size=2)), max_size=20),
    st.binary(max_size=2),
    st.binary(max_size=2),
)
def test_a_database_is_a_map_sorted_by_unsigned_bytes(
    tmp_path: Path, writes: Changes, first: bytes, before: bytes
) -> None:
    database, model = Database("db", tmp_path / "db", {}), dict[bytes, bytes]()
    for key, _ in list(database.range(None, None)):
        database.put(key, None)
    database.put_all(writes[::2])
    for key, value in writes[1::2]:
        database.put(key, value)
    for key, value in writes[::2] + writes[1::2]:
        model.pop(key, None)
        if value is not None:
            model[key] = value
    assert list(database.range(None, None)) == sorted(model.items())
    assert list(database.range(first, before)) == [each for each in sorted(model.items()) if first <= each[0] < before]
    assert [database.get(key) for key, _ in writes] == [model.get(key) for key, _ in writes]
    database.close()


def test_ranges_include_both_ends_and_iterators_end_with_the_store(tmp_path: Path) -> None:
    task = Task(tmp_path, Changelog())
    store: RocksDBStore = task.opened(RocksDBStore("store"))
    task.write(store, (b"\xff", b"1"), (b"\x7f", b"2"), (b"", b"3"), (b"\x7f\x00", b"4"))
    assert [key for key, _ in store.all()] == [b"", b"\x7f", b"\x7f\x00", b"\xff"]
    assert [key for key, _ in store.range(b"\x7f", b"\xff")] == [b"\x7f", b"\x7f\x00", b"\xff"]
    assert list(store.range(b"\xff", b"\x7f")) == []
    assert store.delete(b"\xff") == b"1"
    half_read = store.all()
    assert next(half_read) == (b"", b"3")
    task.close()
    for use in (lambda: next(half_read), lambda: store.get(b""), store.all):
        with pytest.raises(InvalidStateStoreError, match="Store store is currently closed"):
            use()
    assert (task.state_dir / "rocksdb" / "store" / "CURRENT").exists()
    again = Task(tmp_path, task.changelog)
    assert again.opened(RocksDBStore("store")).get(b"") == b"3"
    again.close()


# ── restarts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@each_kind
def test_a_restart_restores_only_what_the_checkpoint_does_not_cover(tmp_path: Path, kind: str) -> None:
    make, changes = KINDS[kind]
    changelog = Changelog(changes[:-1])
    task = Task(tmp_path, changelog)
    store = task.opened(make("store"))
    assert changelog.read == len(changes) - 1
    assert store.persistent
    assert content(store, changes) == [value for _, value in changes[:-1]] + [None]
    task.write(store, changes[-1])
    task.close()
    for missing in ([], [(changes[0][0], None)]):
        changelog.read = 0
        changelog.changes += missing
        task = Task(tmp_path, changelog)
        store = task.opened(make("store"))
        assert changelog.read == len(missing)
        assert content(store, changes[1:]) == [value for _, value in changes[1:]]
        task.close()


@each_kind
def test_a_standby_hands_its_store_over_with_a_checkpoint(tmp_path: Path, kind: str) -> None:
    make, changes = KINDS[kind]
    changelog = Changelog(changes)
    task = Task(tmp_path, changelog, kind=StandbyStateManager)
    task.opened(make("store"))
    assert changelog.read == 0
    standby = task.manager
    assert isinstance(standby, StandbyStateManager)
    assert standby.update_standby_states(CHANGELOG, list(changelog.poll(0).records(CHANGELOG))) == []
    assert standby.hand_over() == {}, "only stores in memory are handed over open"
    standby.close(None)
    changelog.read = 0
    task = Task(tmp_path, changelog)
    assert content(task.opened(make("store")), changes) == [value for _, value in changes]
    assert changelog.read == 0, "the checkpoint says that everything is there"
    task.close()


@each_kind
def test_a_crash_of_a_standby_leaves_on_disk_what_its_checkpoint_says(tmp_path: Path, kind: str) -> None:
    make, changes = KINDS[kind]
    changelog = Changelog(changes)
    standby = Task(tmp_path / "standby", changelog, kind=StandbyStateManager)
    standby.opened(make("store"))
    assert isinstance(standby.manager, StandbyStateManager)
    standby.manager.update_standby_states(CHANGELOG, list(changelog.poll(0).records(CHANGELOG)))
    standby.manager.flush()
    standby.manager.checkpoint({})
    shutil.copytree(tmp_path / "standby", tmp_path / "crashed")
    standby.manager.close(None)
    changelog.read = 0
    task = Task(tmp_path / "crashed", changelog)
    assert content(task.opened(make("store")), changes) == [value for _, value in changes]
    assert changelog.read == 0
    task.close()


@each_kind
def test_a_store_whose_files_are_gone_is_restored_whatever_its_checkpoint_says(tmp_path: Path, kind: str) -> None:
    make, changes = KINDS[kind]
    changelog = Changelog(changes)
    task = Task(tmp_path, changelog)
    task.opened(make("store"))
    task.close()
    shutil.rmtree(task.state_dir / ("rocksdb" if kind == "key-value" else "store"))
    task = Task(tmp_path, changelog)
    assert content(task.opened(make("store")), changes) == [value for _, value in changes]
    task.close()


@each_kind
def test_without_a_checkpoint_or_with_a_damaged_one_all_is_restored(tmp_path: Path, kind: str) -> None:
    make, changes = KINDS[kind]
    changelog = Changelog(changes)
    task = Task(tmp_path, changelog)
    task.opened(make("store"))
    task.close()
    path = task.state_dir / ".checkpoint"
    for damage in (path.unlink, lambda: path.write_text("garbage")):
        damage()
        changelog.read = 0
        task = Task(tmp_path, changelog)
        assert content(task.opened(make("store")), changes) == [value for _, value in changes]
        assert changelog.read == len(changes)
        task.close()
        assert OffsetCheckpoint(path).read() == {CHANGELOG: len(changes)}


@each_kind
@pytest.mark.parametrize("file", ["CURRENT", "MANIFEST-*", "*.sst"])
def test_a_damaged_store_is_rebuilt_with_one_log_line(
    tmp_path: Path, kind: str, file: str, caplog: pytest.LogCaptureFixture
) -> None:
    make, changes = KINDS[kind]
    changelog = Changelog(changes)
    task = Task(tmp_path, changelog)
    task.opened(make("store"))
    task.close()
    [*_, damaged] = database_of(task.state_dir).glob(file)
    damaged.write_bytes(b"\xee" * 7)
    changelog.read = 0
    task = Task(tmp_path, changelog)
    assert content(task.opened(make("store")), changes) == [value for _, value in changes]
    assert changelog.read == len(changes)
    [line] = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "Restoring store store from the start of its changelog" in line
    task.close()


def test_a_crash_while_a_damaged_store_is_rebuilt_leaves_no_checkpoint(tmp_path: Path) -> None:
    changelog = Changelog([(b"a", b"1")])
    task = Task(tmp_path, changelog)
    task.opened(RocksDBStore("store"))
    task.close()
    (database_of(task.state_dir) / "CURRENT").write_text("x")
    task = Task(tmp_path, changelog)
    changelog.poll = lambda _: 1 / 0  # type: ignore[assignment,method-assign]
    with pytest.raises(ZeroDivisionError):
        task.opened(RocksDBStore("store"))
    task.manager.close(None)
    assert OffsetCheckpoint(task.state_dir / ".checkpoint").read() == {}
    del changelog.poll
    task = Task(tmp_path, changelog)
    assert task.opened(RocksDBStore("store")).get(b"a") == b"1"
    task.close()


def test_damage_that_is_found_while_reading_is_mended_by_the_next_start(tmp_path: Path) -> None:
    changelog = Changelog((b"%05d" % number, b"v" * 50) for number in range(2000))
    task = Task(tmp_path, changelog)
    task.opened(RocksDBStore("store"))
    task.close()
    [table] = database_of(task.state_dir).glob("*.sst")
    content_of_table = bytearray(table.read_bytes())
    content_of_table[100:3000] = bytes(2900)
    table.write_bytes(content_of_table)
    task = Task(tmp_path, changelog)
    store = task.opened(RocksDBStore("store"))
    with pytest.raises(ProcessorStateError, match=r"store store at .*: reading failed: Corruption"):
        store.get(b"00000")
    task.manager.close(None)
    task = Task(tmp_path, changelog)
    assert task.opened(RocksDBStore("store")).get(b"00000") == b"v" * 50
    task.close()


def test_a_damaged_store_without_a_changelog_is_an_error(tmp_path: Path) -> None:
    task = Task(tmp_path, Changelog(), logged=False)
    task.opened(RocksDBStore("store"))
    task.close()
    damaged = database_of(task.state_dir) / "CURRENT"
    damaged.write_text("x")
    task = Task(tmp_path, Changelog(), logged=False)
    with pytest.raises(ProcessorStateError, match="opening it failed: Corruption"):
        task.opened(RocksDBStore("store"))
    assert damaged.read_text() == "x", "nothing is deleted that cannot be restored"
    task.manager.close(None)


def write_on(task: Task, store: StateStore, keys: Iterable[bytes]) -> None:
    """Write and commit until that fails. (Files have some room left.)"""
    keys = list(keys)
    while True:
        task.write(store, *((key, bytes(100_000)) for key in keys))
        task.commit()


@each_kind
def test_a_full_disk_is_an_error_and_the_next_start_has_everything(small_disk: SmallDisk, kind: str) -> None:
    """What was written since the last commit is in the changelog, and comes back from there."""
    make, changes = KINDS[kind]
    task = Task(small_disk.directory, Changelog())
    store = task.opened(make("store"))
    task.write(store, *changes)
    task.commit()
    small_disk.fill()
    with pytest.raises(ProcessorStateError, match=r"store store.* at /.*: (writing|flushing) failed: .*No space left"):
        write_on(task, store, [key for key, _ in changes])
    with suppress(ProcessorStateError):  # the state directory is unlocked all the same
        task.close()

    small_disk.make_room()
    task = Task(small_disk.directory, task.changelog)
    store = task.opened(make("store"))
    assert content(store, changes) == [dict(task.changelog.changes)[key] for key, _ in changes]
    task.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.unit.streams.state.rocksdb.test_rocksdb_store import Changelog, Task, RocksDBStore
task = Task(Path(sys.argv[1]), Changelog())
store = task.opened(RocksDBStore("store"))
task.write(store, (b"a", b"1"), (b"b", b"2"))
task.commit()
task.write(store, (b"b", None), (b"c", b"3"))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_written_after_the_last_commit_survives_kill_9_in_the_changelog(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=patient_s(60))
    assert killed.returncode == -9
    changelog = Changelog([(b"a", b"1"), (b"b", b"2"), (b"b", None), (b"c", b"3")])
    task = Task(tmp_path, changelog)
    assert list(task.opened(RocksDBStore("store")).all()) == [(b"a", b"1"), (b"c", b"3")]
    assert changelog.read == 2
    task.close()


def test_more_than_a_batch_is_restored_in_order(tmp_path: Path) -> None:
    changes: Changes = [(b"%d" % (number % 1500), b"%d" % number) for number in range(2 * BATCH_SIZE + 7)]
    changes.append((b"3", None))
    task = Task(tmp_path, Changelog(changes))
    assert dict(task.opened(RocksDBStore("store")).all()) == {k: v for k, v in dict(changes).items() if v is not None}
    task.close()


# ── segments ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def segments_in(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "store").iterdir())


def test_segments_are_directories_with_kafkas_names_and_expire_as_a_whole(tmp_path: Path) -> None:
    task = Task(tmp_path, Changelog())
    store = task.opened(windows())
    start = 1_479_902_400_000  # 2016-11-23 12:00 UTC
    for minute in range(5):
        task.write(store, (window_key(b"k", start + minute * MINUTE + 5), b"%d" % minute))
    kept = ["store-201611231202", "store-201611231203", "store-201611231204"]
    assert segments_in(task.state_dir) == kept
    assert [value for _, value in store.fetch(b"k", 0, start * 2)] == [b"2", b"3", b"4"]
    task.close()
    task = Task(tmp_path, task.changelog)
    store = task.opened(windows())
    assert segments_in(task.state_dir) == kept
    task.write(store, (window_key(b"k", start + 6 * MINUTE), b"6"), (window_key(b"k", start), b"expired"))
    assert [value for _, value in store.fetch(b"k", 0, start * 2)] == [b"4", b"6"]
    assert segments_in(task.state_dir) == ["store-201611231204", "store-201611231206"]
    task.close()


def test_a_segment_that_expires_while_another_thread_reads_has_no_more_entries(tmp_path: Path) -> None:
    task = Task(tmp_path, Changelog())
    segment = RocksDBSegment("store-197001010000", task.state_dir / "segment", {}, WINDOW_SUFFIX.size)
    segment.put_all([(window_key(b"k", time), b"%d" % time) for time in range(3)])
    read = segment.fetch(b"k", bytes(8), b"\xff" * 8)
    assert next(read)[1] == b"0"
    segment.close()
    segment.destroy()
    assert list(read) == [] == list(segment.fetch(b"k", bytes(8), b"\xff" * 8))
    task.close()


def test_a_store_whose_interval_has_changed_is_rebuilt(tmp_path: Path) -> None:
    changes: Changes = [(window_key(b"k", number * MINUTE), b"%d" % number) for number in range(1, 4)]
    task = Task(tmp_path, Changelog(changes))
    task.opened(windows())
    task.close()
    task.changelog.read = 0
    task = Task(tmp_path, task.changelog)
    store = task.opened(windows(interval_ms=4 * MINUTE))
    assert segments_in(task.state_dir) == ["store-197001010000"]
    assert [value for _, value in store.fetch(b"k", 0, 9 * MINUTE)] == [b"1", b"2", b"3"]
    assert task.changelog.read == 3
    task.close()


@given(st.integers(0, 10**16), st.integers(60_000, 10**9))
def test_the_name_of_a_segment_says_which_one_it_is(segment_id: int, interval_ms: int) -> None:
    segment_id %= 10**17 // interval_ms
    assert segment_id_of("s-1", segment_name("s-1", segment_id, interval_ms), interval_ms) == segment_id


def test_far_times_have_years_of_more_digits() -> None:
    assert segment_name("s", 0, MINUTE) == "s-197001010000"
    assert segment_name("s", 253_402_300_800_000 // MINUTE, MINUTE) == "s-1000001010000"


@pytest.mark.parametrize("name", ["store", "store-", "store-2016112312", "other-201611231205", "store-201611231201"])
def test_other_names_are_not_segments(name: str) -> None:
    assert segment_id_of("store", name, 5 * MINUTE) is None


# ── settings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Setter(RocksDBConfigSetter):
    """Remembers what it was given."""

    given: ClassVar[list[tuple[str, object]]] = []

    def set_config(self, store_name: str, options: Any, configs: Mapping[str, object]) -> None:
        options.set_max_write_buffer_number(7)
        self.given.append((store_name, configs["x"]))


NAME_OF_SETTER = f"{Setter.__module__}.Setter"


def test_the_config_setter_changes_options(tmp_path: Path) -> None:
    Setter.given.clear()
    task = Task(tmp_path, Changelog(), configs={"rocksdb.config.setter": NAME_OF_SETTER, "x": "y"})
    task.opened(RocksDBStore("store"))
    assert Setter.given == [("store", "y")] or sys.modules[Setter.__module__].Setter.given == [("store", "y")]
    [*_, options] = sorted(database_of(task.state_dir).glob("OPTIONS-*"))
    assert "max_write_buffer_number=7" in options.read_text()
    assert "compaction_style=kCompactionStyleUniversal" in options.read_text()
    task.close()


def test_a_config_setter_is_checked_when_the_application_is_configured() -> None:
    configs = {"application.id": "app", "bootstrap.servers": "localhost:1"}
    assert StreamsConfig(configs).rocksdb_config_setter() is None
    setter = StreamsConfig({**configs, "rocksdb.config.setter": Setter}).rocksdb_config_setter()
    assert setter is not None
    assert type(setter).__name__ == "Setter"
    with pytest.raises(ConfigError, match="is not a RocksDBConfigSetter"):
        StreamsConfig({**configs, "rocksdb.config.setter": SimpleNamespace.__module__ + ".SimpleNamespace"})


def test_the_dsl_keeps_its_stores_on_disk_if_it_is_told_to() -> None:
    """Each of its kinds: a table, windows, sessions, and the two sides of a join."""
    received: dict[str, list[Any]] = {}
    for kind in ("in_memory", "rocksDB"):
        builder = KStreamBuilder()
        stream = builder.stream("in", key_serde=Serdes.string(), value_serde=Serdes.string())
        grouped = stream.group_by_key()
        grouped.count("Counts").to("out", Serdes.string(), Serdes.long())
        grouped.count("Windows", TimeWindows.of(MINUTE))
        grouped.count("Sessions", SessionWindows.with_gap(MINUTE))
        joined = stream.join(stream, lambda a, b: a + b, windows=JoinWindows.of(MINUTE))
        joined.to("joined", Serdes.string(), Serdes.string())
        builder.table("table", "Table")
        received[kind] = []
        string = Serdes.string()
        with TopologyTestDriver(builder, key_serde=string, value_serde=string, default_dsl_store=kind) as driver:
            for number in range(4):
                driver.pipe_input("in", "k", str(number), timestamp=number * 40_000)
                driver.pipe_input("table", f"k{number % 2}", str(number), timestamp=number)
            for topic, serde in (("out", Serdes.long()), ("joined", string)):
                while record := driver.read_output(topic, value_deserializer=serde.deserializer):
                    received[kind].append(record)
            received[kind] += driver.key_value_store("Table").all()
            received[kind] += driver.state_store("Windows").fetch("k", 0, MAX_TIME)  # type: ignore[attr-defined]
            received[kind] += driver.state_store("Sessions").fetch("k")  # type: ignore[attr-defined]
            names = ["Counts", "Table", "Windows", "Sessions"]
            assert {driver.state_store(name).persistent for name in names} == {kind == "rocksDB"}
    assert received["rocksDB"] == received["in_memory"]
    assert len(received["rocksDB"]) > 12


def test_without_the_package_the_dsl_cannot_be_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    configs = {"application.id": "app", "bootstrap.servers": "localhost:1", "default.dsl.store": "rocksDB"}
    assert StreamsConfig(configs)["default.dsl.store"] == "rocksDB"
    monkeypatch.setitem(sys.modules, "rocksdict", None)
    with pytest.raises(ConfigError, match=r"pip install 'kafka-lite\[streams\]'"):
        StreamsConfig(configs)
    assert StreamsConfig({**configs, "default.dsl.store": "in_memory"})


def test_without_the_package_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rocksdict", None)
    task = Task(tmp_path, Changelog())
    with pytest.raises(StreamsError, match=r"pip install 'kafka-lite\[streams\]'"):
        task.opened(RocksDBStore("store"))
    task.manager.close(None)


def test_streams_is_imported_without_the_package() -> None:
    code = "import sys; sys.modules['rocksdict'] = None; import kafka_lite.streams.kafka_streams"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=patient_s(60)).returncode == 0
