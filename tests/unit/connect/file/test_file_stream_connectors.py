from pathlib import Path
from typing import Any

import pytest

from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.file.file_stream_sink_connector import FileStreamSinkConnector
from kafka_lite.connect.file.file_stream_sink_task import FileStreamSinkTask
from kafka_lite.connect.file.file_stream_source_connector import FileStreamSourceConnector
from kafka_lite.connect.file.file_stream_source_task import FileStreamSourceTask


def test_the_source_has_one_task() -> None:
    connector = FileStreamSourceConnector()
    connector.start({"name": "n", "file": "f", "topic": "t"})
    assert connector.task_configs(7) == [{"file": "f", "topic": "t"}]
    assert connector.task_class() is FileStreamSourceTask
    assert connector.version() == connector.task_class()().version()


@pytest.mark.parametrize("topic", [None, "", "a,b"])
def test_the_source_needs_one_topic(topic: str | None) -> None:
    with pytest.raises(ConnectError):
        FileStreamSourceConnector().start({"file": "f"} if topic is None else {"file": "f", "topic": topic})


def test_the_sink_has_all_tasks() -> None:
    connector = FileStreamSinkConnector()
    connector.start({"name": "n", "file": "f", "topics": "t"})
    assert connector.task_configs(2) == [{"file": "f"}, {"file": "f"}]
    assert connector.task_class() is FileStreamSinkTask
    assert connector.version() == connector.task_class()().version()


@pytest.mark.parametrize(
    ("connector", "missing"),
    [(FileStreamSourceConnector(), ["file", "topic"]), (FileStreamSinkConnector(), ["file"])],
)
def test_what_validation_requires(connector: Any, missing: list[str]) -> None:
    assert [value.name for value in connector.validate({}) if value.error_messages] == missing


def test_the_sink_writes_values_as_java_does(tmp_path: Path) -> None:
    file = tmp_path / "sink.txt"
    file.write_text("before\n")
    schema = SchemaBuilder.struct().field("n", Schema.INT64_SCHEMA).build()
    task = FileStreamSinkTask()
    task.start({"file": str(file)})
    values = ["one", None, 7, {"a": "ü"}, Struct(schema, {"n": 0})]
    task.put([SinkRecord(topic="t", kafka_partition=0, kafka_offset=n, value=v) for n, v in enumerate(values)])
    task.flush({})
    assert file.read_text(encoding="utf-8") == "before\none\nnull\n7\n{a=ü}\nStruct{n=0}\n"
    task.stop()
    task.stop()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="Couldn't find or create file"):
        FileStreamSinkTask().start({"file": str(tmp_path / "no" / "such")})
    FileStreamSinkTask().stop()


def test_without_a_file_the_sink_prints(capsys: pytest.CaptureFixture[str]) -> None:
    task = FileStreamSinkTask()
    task.start({})
    task.put([SinkRecord(topic="t", kafka_partition=0, kafka_offset=0, value="line")])
    task.flush({})
    task.stop()
    assert capsys.readouterr().out == "line\n"


def test_on_a_full_disk_the_flush_fails_so_that_nothing_is_committed() -> None:
    task = FileStreamSinkTask()
    task.start({"file": "/dev/full"})
    task.put([SinkRecord(topic="t", kafka_partition=0, kafka_offset=0, value="eins")])
    with pytest.raises(OSError, match="No space left on device"):
        task.flush({})
    with pytest.raises(OSError, match="No space left on device"):
        task.stop()
