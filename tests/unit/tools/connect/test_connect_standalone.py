"""``kafka-lite connect-standalone`` without a broker: its files, its ready line, its ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import load_properties
from kafka_lite.connect.runtime.connect_clients import ConnectClients
from kafka_lite.connect.runtime.worker import Worker
from kafka_lite.tools.connect.connect_standalone import ConnectStandalone
from kafka_lite.tools.main import main
from tests.support.connect_plugins import FakeClients

CONFIG = Path(__file__).parents[4] / "config"
SOURCE, SINK = CONFIG / "connect-file-source.properties", CONFIG / "connect-file-sink.properties"


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The shipped worker, in a folder of the test, without a broker."""
    monkeypatch.chdir(tmp_path)
    clients: Any = FakeClients()
    monkeypatch.setattr(ConnectClients, "producer", lambda _self, config: clients.producer(config))
    monkeypatch.setattr(ConnectClients, "consumer", lambda _self, config: clients.consumer(config))
    return load_properties(CONFIG / "connect-standalone.properties") | {"rest.port": "0"}


def test_the_shipped_files_start_a_worker_and_its_connectors(worker: dict[str, str]) -> None:
    connect = ConnectStandalone(worker, {file: load_properties(file) for file in (SOURCE, SINK)})
    try:
        connect.startup()
        line = connect.ready_line()
        assert "REST interface http://127.0.0.1:" in line
        assert line.endswith("connectors local-file-source, local-file-sink")
        assert not connect.await_shutdown(0)
    finally:
        connect.shutdown()
    assert connect.await_shutdown(0)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"connector.class": "NoSuch"}, "Failed to find any class that implements Connector and which name matches"),
        ({"tasks.max": "none"}, "Connector configuration is invalid and contains the following 1 error"),
    ],
)
def test_a_connector_that_cannot_be_created_is_named_with_its_file(
    worker: dict[str, str], change: dict[str, str], problem: str
) -> None:
    config = load_properties(SOURCE) | change
    connect = ConnectStandalone(worker, {SOURCE: config})
    try:
        with pytest.raises(KafkaError, match=f"Failed to create job for .*connect-file-source.properties: {problem}"):
            connect.startup()
    finally:
        connect.shutdown()
    assert connect.await_shutdown(0)


def test_a_worker_that_cannot_be_made_releases_its_port(
    worker: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KafkaError("no worker")

    monkeypatch.setattr(Worker, "__init__", fail)
    connect = ConnectStandalone(worker, {})
    with pytest.raises(KafkaError, match="no worker"):
        connect.startup()
    connect.shutdown()


def test_the_command_stops_with_the_reason(
    worker: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.properties"
    file.write_text("name=bad\nconnector.class=NoSuch\n")
    shipped = str(CONFIG / "connect-standalone.properties")
    assert main(["connect-standalone", shipped, str(file), "--override", "rest.port=0"]) == 1
    assert f"kafka-lite connect-standalone: Failed to create job for {file}" in capsys.readouterr().err


def test_a_connector_has_to_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["connect-standalone", str(CONFIG / "connect-standalone.properties")])
    assert ended.value.code == 2
    assert "CONNECTOR.properties" in capsys.readouterr().err
