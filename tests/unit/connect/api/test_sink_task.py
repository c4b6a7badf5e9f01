"""A sink task as its author writes it, with a context that notes what the task asks for."""

from collections.abc import Collection, Mapping, Sequence

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api import RetriableError, SinkRecord, SinkTask, SinkTaskContext
from kafka_lite.consumer import OffsetAndMetadata

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


class NotedContext(SinkTaskContext):
    """Notes each call."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def configs(self) -> dict[str, str]:
        return {"file": "/tmp/out"}

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.calls.append(("offset", dict(offsets)))

    def timeout(self, timeout_ms: int) -> None:
        self.calls.append(("timeout", timeout_ms))

    def assignment(self) -> set[TopicPartition]:
        return {FIRST, SECOND}

    def pause(self, *partitions: TopicPartition) -> None:
        self.calls.append(("pause", partitions))

    def resume(self, *partitions: TopicPartition) -> None:
        self.calls.append(("resume", partitions))

    def request_commit(self) -> None:
        self.calls.append("commit")


class TableTask(SinkTask):
    """Keeps rows by partition, with the offsets beside them; the table can be locked."""

    def __init__(self) -> None:
        self.rows: dict[TopicPartition, list[object]] = {}
        self.flushed: dict[TopicPartition, int] = {}
        self.locked = False

    def start(self, props: Mapping[str, str]) -> None:
        self.file = props["file"]

    def open(self, partitions: Collection[TopicPartition]) -> None:
        for partition in partitions:
            self.rows.setdefault(partition, [])
        self.context.offset({partition: len(self.rows[partition]) for partition in partitions})

    def put(self, records: Sequence[SinkRecord]) -> None:
        if self.locked:
            self.context.timeout(50)
            raise RetriableError("the table is locked")
        for record in records:
            assert record.kafka_partition is not None
            self.rows[TopicPartition(record.topic, record.kafka_partition)].append(record.value)
        if len(records) > 2:
            self.context.request_commit()

    def flush(self, current_offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        self.flushed = {partition: of.offset for partition, of in current_offsets.items()}

    def close(self, partitions: Collection[TopicPartition]) -> None:
        for partition in partitions:
            del self.rows[partition]

    def stop(self) -> None:
        self.rows.clear()


@pytest.fixture
def task() -> TableTask:
    made = TableTask()
    made.initialize(NotedContext())
    made.start(made.context.configs())
    return made


def calls_of(task: TableTask) -> list[object]:
    assert isinstance(task.context, NotedContext)
    return task.context.calls


def records(*values: object) -> list[SinkRecord]:
    return [
        SinkRecord(topic="t", kafka_partition=0, value=value, kafka_offset=offset)
        for offset, value in enumerate(values)
    ]


def test_a_task_that_stores_offsets_says_where_to_begin(task: TableTask) -> None:
    task.open([FIRST])

    assert calls_of(task) == [("offset", {FIRST: 0})]


def test_records_are_put_and_a_commit_is_asked_for(task: TableTask) -> None:
    task.open([FIRST, SECOND])
    task.put(records("a", "b", "c"))

    assert task.rows == {FIRST: ["a", "b", "c"], SECOND: []}
    assert calls_of(task)[-1] == "commit"


def test_a_task_that_is_held_up_asks_for_the_same_records_later(task: TableTask) -> None:
    task.open([FIRST])
    task.locked = True
    with pytest.raises(RetriableError, match="locked"):
        task.put(records("a"))

    assert (task.rows, calls_of(task)[-1]) == ({FIRST: []}, ("timeout", 50))


def test_offsets_are_flushed_before_they_are_committed(task: TableTask) -> None:
    offsets = {FIRST: OffsetAndMetadata(3)}

    assert task.pre_commit(offsets) == offsets
    assert task.flushed == {FIRST: 3}


def test_a_partition_that_is_closed_is_forgotten(task: TableTask) -> None:
    task.open(task.context.assignment())
    task.close([SECOND])

    assert list(task.rows) == [FIRST]


def test_the_configuration_key_of_topics() -> None:
    assert (SinkTask.TOPICS_CONFIG, SinkTask.TOPICS_REGEX_CONFIG) == ("topics", "topics.regex")


def test_errors_are_not_reported_unless_the_runtime_says_so() -> None:
    assert NotedContext().errant_record_reporter is None
