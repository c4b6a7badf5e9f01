"""Global stores on disk: what a restart reads of their topics, who has their directory, and what an error leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.record.record import Header, TimestampType
from kafka_lite.streams.errors import LockError, StreamsError
from kafka_lite.streams.exception_handlers import LogAndContinueExceptionHandler
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.state_store import IN_MEMORY, ROCKS_DB
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.tasks.task_environment import TaskEnvironment
from kafka_lite.streams.threads.global_state_manager import GlobalStateManager
from kafka_lite.streams.threads.global_state_update_task import GlobalStateUpdateTask
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

FIRST, SECOND = TopicPartition("cities", 0), TopicPartition("cities", 1)
RIVERS = TopicPartition("rivers", 0)
Entry = tuple[bytes | None, bytes | None]


class Topic:
    """The topic of a global table, with two partitions, and a consumer of it that counts what it reads."""

    def __init__(self) -> None:
        self.partitions: dict[TopicPartition, list[Entry]] = {FIRST: [], SECOND: []}
        self.starts = {FIRST: 0, SECOND: 0}
        """What lies below is removed."""
        self.read = 0
        self.unknown = 0
        """So many calls the broker will not know the topic."""
        self._positions: dict[TopicPartition, int] = {}

    def append(self, partition: TopicPartition, key: bytes | None, value: bytes | None) -> ConsumerRecord:
        self.partitions[partition].append((key, value))
        return self._record(partition, len(self.partitions[partition]) - 1)

    def _record(self, partition: TopicPartition, offset: int) -> ConsumerRecord:
        return ConsumerRecord(*partition, offset, 1, TimestampType.CREATE_TIME, *self.partitions[partition][offset])

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        if self.unknown:
            self.unknown -= 1
            return []
        return [PartitionInfo(topic, partition.partition, None) for partition in self.partitions]

    def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {partition: self.starts[partition] for partition in partitions}

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {partition: len(self.partitions[partition]) for partition in partitions}

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        self._positions = dict.fromkeys(partitions, -1)

    def unsubscribe(self) -> None:
        self._positions = {}

    def seek_to_beginning(self, partitions: Iterable[TopicPartition]) -> None:
        self._positions.update(self.beginning_offsets(partitions))

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self._positions[partition] = offset

    def position(self, partition: TopicPartition) -> int:
        return self._positions[partition]

    def poll(self, _: float) -> ConsumerRecords:
        found = {
            partition: [self._record(partition, offset) for offset in range(start, len(self.partitions[partition]))]
            for partition, start in self._positions.items()
        }
        self._positions = {partition: len(self.partitions[partition]) for partition in found}
        self.read += sum(map(len, found.values()))
        return ConsumerRecords(found)


class Instance:
    """The global task of an instance, which has been restored from ``topic``."""

    def __init__(self, topic: Topic, state_dir: Path, kind: str = ROCKS_DB) -> None:
        string = Serdes.string()
        builder = KStreamBuilder().set_application_id("app").set_dsl_store(kind)
        builder.global_table("cities", "Cities", string, string)
        topology = builder.build_global_state_topology()
        assert topology is not None
        consumer: Any = topic
        directory = StateDirectory("app", state_dir, MockTime())
        self.manager = GlobalStateManager(consumer, topology.store_to_changelog_topic, directory, MockTime())
        skip = LogAndContinueExceptionHandler()
        self.task = GlobalStateUpdateTask(topology, TaskEnvironment("app", string, string), self.manager, skip)
        topic.read = 0
        try:
            self.manager.initialize(topology.state_stores)
            self.task.initialize()
        except BaseException:
            self.task.close(write_checkpoint=False)
            raise
        [store] = topology.state_stores
        assert isinstance(store, KeyValueStore)
        self.store: KeyValueStore[Any, Any] = store

    def content(self) -> dict[str, str]:
        return dict(self.store.all())


@pytest.fixture
def topic() -> Topic:
    """Berlin in one partition, Paris in the other, and a record without a key."""
    made = Topic()
    made.append(FIRST, b"b", b"Berlin")
    made.append(SECOND, b"p", b"Paris")
    made.append(SECOND, None, b"nowhere")
    return made


def checkpoint(state_dir: Path) -> OffsetCheckpoint:
    return OffsetCheckpoint(state_dir / "app" / "global" / ".checkpoint")


def is_lock_free(state_dir: Path) -> bool:
    directory = StateDirectory("app", state_dir, MockTime())
    try:
        return directory.lock_global_state()
    finally:
        directory.unlock_global_state()


def database(state_dir: Path) -> Path:
    return state_dir / "app" / "global" / "rocksdb" / "Cities"


@pytest.fixture
def closed(topic: Topic, tmp_path: Path) -> Iterator[Path]:
    """The state directory of an instance that was closed with everything restored."""
    Instance(topic, tmp_path).task.close()
    yield tmp_path
    assert is_lock_free(tmp_path), "whatever happened"


def test_a_restart_reads_only_what_the_checkpoint_does_not_cover(topic: Topic, tmp_path: Path) -> None:
    instance = Instance(topic, tmp_path)
    assert (topic.read, instance.store.persistent) == (3, True)
    assert not topic._positions, "the thread assigns its consumer all topics afterwards"
    instance.task.update(topic.append(FIRST, b"r", b"Rome"))
    instance.task.update(topic.append(SECOND, b"p", None))
    instance.task.close()
    assert checkpoint(tmp_path).read() == {FIRST: 2, SECOND: 3}
    topic.append(SECOND, b"o", b"Oslo")  # while nobody runs
    again = Instance(topic, tmp_path)
    assert topic.read == 1
    assert again.content() == {"b": "Berlin", "o": "Oslo", "r": "Rome"}
    assert again.manager.offsets == {FIRST: 2, SECOND: 4}
    again.task.close()


def test_a_flush_writes_the_checkpoint_for_a_process_that_is_killed_later(topic: Topic, tmp_path: Path) -> None:
    instance = Instance(topic, tmp_path)
    assert not checkpoint(tmp_path).path.exists()
    instance.task.update(topic.append(FIRST, b"r", b"Rome"))
    instance.task.flush_state()
    assert checkpoint(tmp_path).read() == {FIRST: 2, SECOND: 2}
    instance.task.update(topic.append(FIRST, b"o", b"Oslo"))
    instance.task.close(write_checkpoint=False)
    assert checkpoint(tmp_path).read() == {FIRST: 2, SECOND: 2}, "after an error, nothing new is certain"
    again = Instance(topic, tmp_path)
    assert topic.read == 1
    assert set(again.content()) == {"b", "o", "p", "r"}
    again.task.close()


def test_a_store_in_memory_is_restored_from_the_beginning_beside_one_on_disk(topic: Topic, tmp_path: Path) -> None:
    """It may have been on disk before, with a checkpoint."""
    directory, topics = StateDirectory("app", tmp_path, MockTime()), {"Cities": "cities", "OnDisk": "rivers"}
    directory.global_state_dir()
    checkpoint(tmp_path).write({FIRST: 1, SECOND: 2})
    topic.partitions_for = lambda name: [PartitionInfo(name, 0, None)]  # type: ignore[method-assign]
    manager = GlobalStateManager(topic, topics, directory)  # type: ignore[arg-type]
    on_disk: Any = SimpleNamespace(name="OnDisk", persistent=True)
    in_memory: Any = SimpleNamespace(name="Cities", persistent=False)
    manager.initialize([in_memory, on_disk])
    found: list[bytes] = []
    manager.restore(in_memory, lambda key, _: found.append(key))
    assert found == [b"b"]
    manager.stores |= {"OnDisk": on_disk, "Cities": in_memory}
    manager.checkpoint({RIVERS: 4, FIRST: 7})
    assert checkpoint(tmp_path).read() == {RIVERS: 5, FIRST: 1, SECOND: 2}, "of cities what was on disk before"
    assert manager.forget_checkpoint("Cities", "its files are gone")
    assert checkpoint(tmp_path).read() == {RIVERS: 5}
    manager.stores.clear()
    manager.close(None)


def test_a_flush_comes_before_its_checkpoint_and_the_checkpoint_may_fail(
    topic: Topic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, order = Instance(topic, tmp_path), list[str]()

    def fail(*_: object) -> None:
        order.append("checkpoint")
        raise OSError("no space left")

    monkeypatch.setattr(instance.store, "flush", lambda: order.append("flush"))
    monkeypatch.setattr(OffsetCheckpoint, "write", fail)
    instance.task.flush_state()
    assert order == ["flush", "checkpoint"]
    instance.task.close()
    assert is_lock_free(tmp_path)


class Watching(Processor[Any, Any]):
    """Fills no store. Keeps the headers that it has seen, and cannot be closed."""

    headers: tuple[Header, ...] = ()

    def process(self, key: Any, value: Any) -> None:
        self.headers = self.context.headers

    def close(self) -> None:
        raise OSError("it cannot be closed")


def test_the_processor_of_a_global_store_reads_headers_and_cannot_send() -> None:
    processor, serde = Watching(), Serdes.byte_array()
    builder = TopologyBuilder().set_application_id("app")
    supplier = Stores.in_memory_key_value("Places", logging_enabled=False)
    builder.add_global_store(supplier, "source", "cities", "fill", lambda: processor)
    topology: Any = builder.build_global_state_topology()
    [store] = topology.state_stores
    manager: Any = SimpleNamespace(register=lambda *_: None, close=lambda _: store.close())
    task = GlobalStateUpdateTask(topology, TaskEnvironment("app", serde, serde), manager)
    task.initialize()
    headers = (Header("trace", b"7"),)
    task.update(ConsumerRecord(*FIRST, 0, 1, TimestampType.CREATE_TIME, b"k", b"v", headers))
    assert processor.headers == headers
    context: Any = processor.context
    for refused in (
        lambda: context.record_collector.send("out", b"k", b"v"),
        lambda: context.schedule(10),
        context.commit,
    ):
        context.current_node = topology.processors[-1]
        with pytest.raises(StreamsError, match="can neither send, nor schedule, nor commit"):
            refused()
    with pytest.raises(RuntimeError, match="Can only create state stores during initialization"):
        context.register(store, lambda *_: None)
    with pytest.raises(StreamsError, match="failed to close processor fill"):
        task.close()
    assert not store.is_open


def test_a_skipped_record_is_not_read_again(topic: Topic, closed: Path) -> None:
    instance = Instance(topic, closed)
    instance.task.update(topic.append(FIRST, b"x", b"\xff"))
    instance.task.close()
    assert checkpoint(closed).read() == {FIRST: 2, SECOND: 2}


@pytest.mark.parametrize("text", [None, "garbage"])
def test_without_a_checkpoint_or_with_a_damaged_one_all_is_read(topic: Topic, closed: Path, text: str | None) -> None:
    checkpoint(closed).delete() if text is None else checkpoint(closed).path.write_text(text)
    instance = Instance(topic, closed)
    assert topic.read == 3
    assert instance.content() == {"b": "Berlin", "p": "Paris"}
    instance.task.close()
    assert checkpoint(closed).read() == {FIRST: 1, SECOND: 2}


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_store_whose_files_are_gone_or_damaged_is_read_anew(
    topic: Topic, closed: Path, is_gone: bool, caplog: pytest.LogCaptureFixture
) -> None:
    current = database(closed) / "CURRENT"
    current.unlink() if is_gone else current.write_bytes(b"\xee" * 7)
    instance = Instance(topic, closed)
    assert topic.read == 3
    assert instance.content() == {"b": "Berlin", "p": "Paris"}
    [line] = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "Restoring global store Cities from the start of cities" in line
    instance.task.close()


def test_a_crash_while_a_damaged_store_is_read_anew_leaves_no_checkpoint(topic: Topic, closed: Path) -> None:
    (database(closed) / "CURRENT").write_text("x")
    poll, topic.poll = topic.poll, lambda _: 1 / 0  # type: ignore[assignment,method-assign]
    with pytest.raises(ZeroDivisionError):
        Instance(topic, closed)
    assert checkpoint(closed).read() == {}
    topic.poll = poll  # type: ignore[method-assign]
    instance = Instance(topic, closed)
    assert instance.content() == {"b": "Berlin", "p": "Paris"}
    instance.task.close()


def outdate_by_retention(topic: Topic) -> str:
    """Paris was deleted, and retention has removed the record that said so."""
    topic.append(SECOND, b"p", None)
    topic.append(SECOND, b"o", b"Oslo")
    topic.starts[SECOND] = 3
    return "is 2, but its log has the offsets from 3 to 4"


def outdate_by_another_topic(topic: Topic) -> str:
    """The topic was deleted, and created again."""
    topic.partitions[SECOND] = [(b"o", b"Oslo")]
    return "is 2, but its log has the offsets from 0 to 1"


def outdate_by_a_smaller_topic(topic: Topic) -> str:
    """The new topic has one partition."""
    topic.partitions = {FIRST: [(b"b", b"Berlin"), (b"o", b"Oslo")]}
    return "cities has no partition 1 any more"


@pytest.mark.parametrize("outdate", [outdate_by_retention, outdate_by_another_topic, outdate_by_a_smaller_topic])
def test_a_store_whose_topic_lacks_the_offset_of_the_checkpoint_is_rebuilt(
    topic: Topic, closed: Path, outdate: Callable[[Topic], str], caplog: pytest.LogCaptureFixture
) -> None:
    """KAFKA-6121: otherwise it keeps Paris for ever."""
    why = outdate(topic)
    instance = Instance(topic, closed)
    assert instance.content() == {"b": "Berlin", "o": "Oslo"}
    [line] = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert line.startswith("Restoring GlobalStore Cities failed due to: ")
    assert why in line
    assert line.endswith("Deleting global store to recreate from scratch.")
    instance.task.close()
    Instance(topic, closed).task.close()
    assert topic.read == 0, "the new checkpoint fits"


def test_files_without_a_checkpoint_are_not_mixed_with_what_is_restored(topic: Topic, closed: Path) -> None:
    """A crash during a restore leaves a part of a store that nothing says the state of."""
    checkpoint(closed).path.unlink()
    outdate_by_retention(topic)
    instance = Instance(topic, closed)
    assert instance.content() == {"b": "Berlin", "o": "Oslo"}
    instance.task.close()


def test_one_instance_at_a_time_has_the_directory(topic: Topic, closed: Path) -> None:
    instance = Instance(topic, closed)
    with pytest.raises(LockError, match=r"Failed to lock the global state directory: .*global"):
        Instance(topic, closed)
    instance.task.close()
    Instance(topic, closed).task.close()


def test_stores_in_memory_share_a_directory_and_leave_it_alone(topic: Topic, closed: Path) -> None:
    instances = [Instance(topic, closed, IN_MEMORY) for _ in range(2)]
    assert topic.read == 3, "the checkpoint on disk is not theirs"
    topic.append(FIRST, b"r", b"Rome")
    for instance in instances:
        instance.task.flush_state()
        instance.task.close()
    assert checkpoint(closed).read() == {FIRST: 1, SECOND: 2}
    on_disk = Instance(topic, closed)
    assert topic.read == 1
    on_disk.task.close()


def test_a_topic_that_a_broker_does_not_know_yet_is_asked_for_again(topic: Topic, tmp_path: Path) -> None:
    topic.unknown = 3
    first = Instance(topic, tmp_path)
    assert first.content() == {"b": "Berlin", "p": "Paris"}
    first.task.close()
    outdate_by_another_topic(topic)
    topic.unknown = 3
    second = Instance(topic, tmp_path)
    assert topic.unknown == 0
    assert topic.read == sum(map(len, topic.partitions.values())), "an unknown topic fits no checkpoint"
    second.task.close()


def test_a_missing_topic_leaves_the_lock_free(tmp_path: Path) -> None:
    topic = Topic()
    topic.partitions.clear()
    with pytest.raises(StreamsError, match="There are no partitions available for topic cities"):
        Instance(topic, tmp_path)
    assert is_lock_free(tmp_path)


def test_the_dsl_keeps_global_tables_where_default_dsl_store_says(tmp_path: Path) -> None:
    builder = KStreamBuilder()
    builder.global_table("cities", "Cities", Serdes.string(), Serdes.string())
    serdes = {"key_serde": Serdes.string(), "value_serde": Serdes.string()}
    with TopologyTestDriver(builder, default_dsl_store=ROCKS_DB, **serdes) as driver:
        driver.pipe_input("cities", "b", "Berlin", timestamp=1)
        assert driver.state_store("Cities").persistent
        assert driver.key_value_store("Cities").get("b") == "Berlin"
    configs = {"application.id": "app", "bootstrap.servers": "localhost:1", "state.dir": str(tmp_path)}
    KafkaStreams(builder, {**configs, "default.dsl.store": ROCKS_DB}).close()
    assert not (tmp_path / "app" / "global").exists(), "an instance that never starts needs no directory"
