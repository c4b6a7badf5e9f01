"""The smallest connector and its task: what an author gets without a line for it."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from kafka_lite.common.config_def import Range, Type
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api import (
    NO_DEFAULT,
    ConfigDef,
    ConnectorContext,
    Importance,
    SinkConnector,
    SinkRecord,
    SinkTask,
    SourceConnector,
    SourceRecord,
    SourceTask,
    SourceTaskContext,
    Task,
)
from kafka_lite.consumer import OffsetAndMetadata

CALLS: list[Any] = []


class NumbersTask(SourceTask):
    def start(self, props: Mapping[str, str]) -> None:
        self._next = int(props["first"])

    def poll(self) -> Sequence[SourceRecord]:
        self._next += 1
        return [SourceRecord(topic="numbers", value=self._next - 1)]

    def stop(self) -> None:
        CALLS.append("stop")


class Numbers(SourceConnector):
    def config(self) -> ConfigDef:
        return ConfigDef().define("first", Type.INT, NO_DEFAULT, Importance.HIGH, "Where to begin.", Range.at_least(0))

    def start(self, props: Mapping[str, str]) -> None:
        CALLS.append(props)

    def task_class(self) -> type[Task]:
        return NumbersTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{"first": str(n)} for n in range(max_tasks)]


class PrintTask(SinkTask):
    def start(self, props: Mapping[str, str]) -> None: ...

    def put(self, records: Sequence[SinkRecord]) -> None: ...

    def flush(self, current_offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        CALLS.append(current_offsets)

    def stop(self) -> None: ...


class Print(SinkConnector):
    def start(self, props: Mapping[str, str]) -> None: ...

    def task_class(self) -> type[Task]:
        return PrintTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{} for _ in range(max_tasks)]


def test_a_source_connector_makes_tasks() -> None:
    connector = Numbers()
    context = cast(ConnectorContext, object())
    connector.initialize(context)
    task = connector.task_class()()
    assert isinstance(task, NumbersTask)
    task.initialize(cast(SourceTaskContext, context))
    task.start(connector.task_configs(2)[1])

    assert connector.context is context
    assert [record.value for record in (*task.poll(), *task.poll())] == [1, 2]
    assert (connector.version(), task.version()) == ("undefined", "undefined")


def test_a_connector_checks_its_configuration() -> None:
    (missing,) = Numbers().validate({"other": "1"})
    (negative,) = Numbers().validate({"first": "-1"})
    (good,) = Numbers().validate({"first": "1"})

    assert missing.error_messages == ['Missing required configuration "first" which has no default value.']
    assert negative.error_messages == ["Invalid value -1 for configuration first: Value must be at least 0"]
    assert (good.value, good.error_messages) == (1, [])
    assert Print().validate({"a": "b"}) == []


def test_a_reconfigured_connector_starts_again() -> None:
    CALLS.clear()
    Numbers().reconfigure({"first": "1"})

    assert CALLS == [{"first": "1"}]


def test_a_sink_task_flushes_before_a_commit() -> None:
    CALLS.clear()
    offsets = {TopicPartition("t", 0): OffsetAndMetadata(5)}

    assert PrintTask().pre_commit(offsets) is offsets
    assert [offsets] == CALLS


def test_a_connector_accepts_no_offsets_unless_it_says_so() -> None:
    assert not Numbers().alter_offsets({}, [({}, None)])
    assert not Print().alter_offsets({}, {})
