import json
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from kafka_lite.connect.api.connector import Connector
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.file.file_stream_sink_connector import FileStreamSinkConnector
from kafka_lite.connect.file.file_stream_source_connector import FileStreamSourceConnector
from kafka_lite.connect.file.file_stream_source_task import FileStreamSourceTask
from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.connect.runtime import plugin_discovery
from kafka_lite.connect.runtime.plugin_discovery import (
    CONNECTORS,
    add_plugin_path,
    class_name,
    connector_class,
    known_connectors,
    listed_connectors,
    load_class,
    new_connector,
    new_task,
)
from kafka_lite.connect.transforms.insert_field import InsertFieldValue
from tests.support.connect_plugins import SOURCE, TASK, IdleSourceConnector, IdleSourceTask


@pytest.fixture(autouse=True)
def _scan_again() -> Iterator[None]:
    known_connectors.cache_clear()
    yield
    known_connectors.cache_clear()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("org.apache.kafka.connect.file.FileStreamSourceTask", FileStreamSourceTask),
        ("org.apache.kafka.connect.json.JsonConverter", JsonConverter),
        ("org.apache.kafka.connect.transforms.InsertField$Value", InsertFieldValue),
        (TASK, IdleSourceTask),
    ],
)
def test_classes_by_their_names_in_java_and_python(name: str, found: type) -> None:
    assert load_class(name) is found
    if issubclass(found, Task):  # other classes are named by users only
        assert class_name(found) == name


@pytest.mark.parametrize(
    "name",
    ["", "Nothing", "no.such.module.Class", "os.path.NoClass", "os.path.join", "org.apache.kafka.connect.file.X"],
)
def test_names_of_nothing(name: str) -> None:
    with pytest.raises(ConnectError):
        load_class(name)


@pytest.mark.parametrize(
    "name",
    ["FileStreamSink", "FileStreamSinkConnector", "org.apache.kafka.connect.file.FileStreamSinkConnector",
     "kafka_lite.connect.file.file_stream_sink_connector.FileStreamSinkConnector"],
)  # fmt: skip
def test_a_connector_by_alias_simple_name_and_full_name(name: str) -> None:
    assert connector_class(name) is FileStreamSinkConnector


def test_an_unknown_connector_is_refused_with_a_list() -> None:
    with pytest.raises(ConnectError) as raised:
        connector_class("NoSuch")
    assert str(raised.value) == (
        "Failed to find any class that implements Connector and which name matches NoSuch, available connectors are: "
        + ", ".join(sorted(CONNECTORS))
    )
    with pytest.raises(ConnectError, match="does not implement Connector"):
        connector_class(TASK)


def test_packages_declare_connectors(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    group = plugin_discovery.ENTRY_POINTS
    points = [
        EntryPoint("idle", SOURCE.replace(".Idle", ":Idle"), group),
        EntryPoint("broken", "no.such:Thing", group),
        EntryPoint("task", TASK.replace(".Idle", ":Idle"), group),
    ]
    monkeypatch.setattr(plugin_discovery, "entry_points", lambda group: points)
    assert connector_class("IdleSource") is IdleSourceConnector
    assert list(known_connectors()) == sorted([*CONNECTORS, SOURCE])
    assert len(caplog.records) == 2


@pytest.mark.parametrize("name", ["VerifiableSource", "VerifiableSink"])
def test_connectors_for_tests_are_found_and_not_listed(name: str) -> None:
    connector = connector_class(name)
    assert class_name(connector) == f"org.apache.kafka.connect.tools.{name}Connector"
    assert class_name(connector().task_class()) == f"org.apache.kafka.connect.tools.{name}Task"
    assert class_name(connector) not in listed_connectors()
    assert "org.apache.kafka.connect.file.FileStreamSinkConnector" in listed_connectors()


def test_an_alias_of_two_connectors_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class FileStreamSink(Connector):
        """Another one of a similar name."""

    both = {"a.FileStreamSink": FileStreamSink, "b.FileStreamSinkConnector": FileStreamSinkConnector}
    monkeypatch.setattr(plugin_discovery, "known_connectors", lambda: both)
    with pytest.raises(ConnectError, match="More than one connector matches alias FileStreamSink"):
        connector_class("FileStreamSink")


def test_new_plugins() -> None:
    assert isinstance(new_connector("FileStreamSource"), FileStreamSourceConnector)
    assert isinstance(new_task(TASK), IdleSourceTask)
    with pytest.raises(ConnectError, match="is not a Task"):
        new_task(SOURCE)
    with pytest.raises(ConnectError, match="Instantiation error of kafka_lite"):
        plugin_discovery.new_plugin(Connector, Connector)


def test_modules_of_the_plugin_path_are_found_after_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plugged_in.py").write_text(f"class Tried:\n    of = {name!r}\n")
    (tmp_path / "one" / "json.py").write_text("")
    add_plugin_path(" one, two,,nowhere ,one")
    add_plugin_path("")
    assert sys.path[-2:] == [str(tmp_path / "one"), str(tmp_path / "two")]
    assert load_class("plugged_in.Tried").of == "one"
    assert load_class("json.JSONDecoder") is json.JSONDecoder
    assert [record.getMessage() for record in caplog.records] == [
        "Could not get listing for plugin path: nowhere. Ignoring."
    ]
    del sys.modules["plugged_in"]
