"""A source task as its author writes it: it continues where an earlier one stopped."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_lite.connect.api import OffsetStorageReader, Schema, SourceRecord, SourceTask, SourceTaskContext


class StoredOffsets(OffsetStorageReader):
    """Offsets in a list of pairs, since a dict cannot be a key."""

    def __init__(self, *stored: tuple[Mapping[str, Any], dict[str, Any]]) -> None:
        self._stored = stored

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        return next((offset for known, offset in self._stored if known == partition), None)

    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        return [self.offset(partition) for partition in partitions]


class Context(SourceTaskContext):
    def __init__(self, offsets: OffsetStorageReader) -> None:
        self._offsets = offsets

    @property
    def offset_storage_reader(self) -> OffsetStorageReader:
        return self._offsets

    def configs(self) -> dict[str, str]:
        return {"words": "one two three"}


class WordsTask(SourceTask):
    """Sends a word per poll."""

    committed: int = 0

    def start(self, props: Mapping[str, str]) -> None:
        self._words = props["words"].split()
        found = self.context.offset_storage_reader.offset({"words": "all"})
        self._next: int = 0 if found is None else found["next"]

    def poll(self) -> Sequence[SourceRecord] | None:
        if self._next == len(self._words):
            return None
        self._next += 1
        return [
            SourceRecord(
                topic="words",
                value_schema=Schema.STRING_SCHEMA,
                value=self._words[self._next - 1],
                source_partition={"words": "all"},
                source_offset={"next": self._next},
            )
        ]

    def commit_record(self, record: SourceRecord, metadata: object) -> None:
        self.committed += metadata is not None

    def stop(self) -> None:
        self._next = len(self._words)


def started(*stored: tuple[Mapping[str, Any], dict[str, Any]]) -> WordsTask:
    task = WordsTask()
    task.initialize(Context(StoredOffsets(*stored)))
    task.start(task.context.configs())
    return task


def polled(task: WordsTask) -> list[Any]:
    return [record.value for record in iter_polls(task)]


def iter_polls(task: WordsTask) -> list[SourceRecord]:
    found: list[SourceRecord] = []
    while records := task.poll():
        found.extend(records)
    return found


def test_the_first_task_begins_at_the_beginning() -> None:
    assert polled(started()) == ["one", "two", "three"]


def test_a_later_task_continues_after_the_stored_offset() -> None:
    first = started()
    record = (first.poll() or ())[0]
    assert record.source_partition is not None
    assert record.source_offset is not None

    assert polled(started((record.source_partition, dict(record.source_offset)))) == ["two", "three"]


def test_a_task_that_is_stopped_has_no_more_records() -> None:
    task = started()
    task.stop()

    assert task.poll() is None


def test_a_record_that_was_dropped_has_no_metadata() -> None:
    task = started()
    for record in iter_polls(task):
        task.commit_record(record, None)
    task.commit()

    assert task.committed == 0


def test_several_offsets_are_read_in_order() -> None:
    offsets = StoredOffsets(({"a": 1}, {"n": 1}), ({"a": 2}, {"n": 2}))

    assert offsets.offsets([{"a": 2}, {"a": 3}, {"a": 1}]) == [{"n": 2}, None, {"n": 1}]
