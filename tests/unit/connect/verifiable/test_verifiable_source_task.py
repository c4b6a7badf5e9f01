import threading
from collections.abc import Mapping
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.runtime.tasks.worker_source_task import WorkerSourceTaskContext
from kafka_lite.connect.verifiable.verifiable_sink_connector import VerifiableSinkConnector
from kafka_lite.connect.verifiable.verifiable_sink_task import VerifiableSinkTask
from kafka_lite.connect.verifiable.verifiable_source_connector import VerifiableSourceConnector
from kafka_lite.connect.verifiable.verifiable_source_task import VerifiableSourceTask
from tests.support.patience import patient_s

PROPS = {"name": "source", "id": "1", "topic": "t", "throughput": "10"}


class Offsets:
    """What is stored of each partition."""

    def __init__(self, stored: Mapping[str, Any] | None) -> None:
        self._stored = stored
        self.asked: list[Mapping[str, Any]] = []

    def offset(self, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        self.asked.append(partition)
        return self._stored


def _source(
    stored: Mapping[str, Any] | None = None, changes: Mapping[str, str] | None = None
) -> tuple[VerifiableSourceTask, MockTime]:
    time = MockTime(start_ms=1000)
    task = VerifiableSourceTask(time)
    task.initialize(WorkerSourceTaskContext(Offsets(stored), {}))  # type: ignore[arg-type]
    task.start(PROPS | dict(changes or {}))
    return task, time


@pytest.mark.parametrize(
    ("connector", "task"),
    [(VerifiableSourceConnector(), VerifiableSourceTask), (VerifiableSinkConnector(), VerifiableSinkTask)],
)
def test_tasks_have_the_whole_configuration_and_a_number(connector: Any, task: type) -> None:
    connector.start({"name": "v", "x": "y"})
    assert connector.task_configs(2) == [{"name": "v", "x": "y", "id": "0"}, {"name": "v", "x": "y", "id": "1"}]
    assert connector.task_class() is task
    assert connector.version() == task().version()


def test_the_source_counts_and_prints_javas_lines(capsys: pytest.CaptureFixture[str]) -> None:
    task, _ = _source()
    records = [each for _ in range(2) for each in task.poll() or ()]
    assert [(each.source_partition, each.source_offset) for each in records] == [
        ({"id": 1}, {"seqno": 0}), ({"id": 1}, {"seqno": 1})
    ]  # fmt: skip
    assert [(each.key_schema, each.key, each.value_schema, each.value) for each in records] == [
        (Schema.INT32_SCHEMA, 1, Schema.INT64_SCHEMA, seqno) for seqno in (0, 1)
    ]
    task.commit_record(records[0], None)
    assert capsys.readouterr().out == (
        '{"task":1,"seqno":0,"time_ms":1000,"name":"source","topic":"t"}\n'
        '{"task":1,"seqno":1,"time_ms":1000,"name":"source","topic":"t"}\n'
        '{"committed":true,"task":1,"seqno":0,"time_ms":1000,"name":"source","topic":"t"}\n'
    )


def test_the_source_continues_after_the_stored_number() -> None:
    task, _ = _source({"seqno": 41})
    assert [each.value for each in task.poll() or ()] == [42]


def test_the_source_keeps_its_rate() -> None:
    task, time = _source()
    for _ in range(100):
        time.sleep(1)
        task.poll()
    assert 9_000 < time.milliseconds() < 12_000  # 100 records at 10 per second


def test_a_source_without_throughput_waits_until_it_is_stopped() -> None:
    task = VerifiableSourceTask()
    task.initialize(WorkerSourceTaskContext(Offsets(None), {}))  # type: ignore[arg-type]
    task.start(PROPS | {"throughput": "0"})
    polling = threading.Thread(target=lambda: [task.poll() for _ in range(3)], daemon=True)
    polling.start()
    task.stop()
    polling.join(patient_s(60))
    assert not polling.is_alive()


@pytest.mark.parametrize("changes", [{"id": "x"}, {"throughput": ""}])
def test_numbers_that_are_none(changes: dict[str, str]) -> None:
    with pytest.raises(ConnectError, match="Invalid VerifiableSourceTask configuration"):
        _source(None, changes)
    with pytest.raises(ConnectError, match="Invalid VerifiableSinkTask configuration"):
        VerifiableSinkTask().start({"name": "sink"})


def test_the_sink_prints_what_is_put_and_what_is_flushed(capsys: pytest.CaptureFixture[str]) -> None:
    time = MockTime(start_ms=1000)
    task = VerifiableSinkTask(time)
    task.start({"name": "sink", "id": "2"})
    task.put([SinkRecord(topic="t", kafka_partition=0, kafka_offset=9, key=1, value=7)])
    time.sleep(5)
    task.flush({})
    task.flush({})
    task.stop()
    assert capsys.readouterr().out == (
        '{"task":1,"seqno":7,"offset":9,"time_ms":1000,"name":"sink","topic":"t","sinkTask":2}\n'
        '{"task":1,"seqno":7,"offset":9,"time_ms":1005,"name":"sink","topic":"t","sinkTask":2,"flushed":true}\n'
    )
