"""``kafka-lite connect`` beside a worker without a broker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kafka_lite.connect.runtime.connect import Connect
from kafka_lite.connect.runtime.rest.rest_server import RestServer
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.worker import Worker
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.connect import connect as command
from kafka_lite.tools.connect.connect import connector_config, frame_of
from kafka_lite.tools.connect.connect_rest import ConnectRest
from kafka_lite.tools.main import main
from tests.support.connect_plugins import SINK, SOURCE, FakeClients
from tests.support.eventually import eventually

JSON = "org.apache.kafka.connect.json.JsonConverter"
PROPS = {
    "key.converter": JSON, "value.converter": JSON, "internal.key.converter": JSON, "internal.value.converter": JSON,
    "offset.storage.file.filename": "unused", "rest.port": "0",
}  # fmt: skip


@pytest.fixture
def connect() -> Iterator[Connect]:
    config = StandaloneConfig(PROPS)
    rest = RestServer(config)
    clients: Any = FakeClients()
    worker = Worker(rest.worker_id, config, MemoryOffsetBackingStore(), clients=clients)
    connect = Connect(StandaloneHerder(worker), rest)
    connect.start()
    yield connect
    connect.stop()


Command = Callable[..., str]


@pytest.fixture
def run(connect: Connect, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command, which has to succeed, and returns its output."""

    def run(*arguments: str) -> str:
        capsys.readouterr()
        code = main(["connect", "--worker", connect.rest.worker_id, *arguments])
        output = capsys.readouterr()
        assert code == 0, output.err
        return output.out

    return run


@pytest.fixture
def idle(tmp_path: Path) -> str:
    """The file of a connector with three tasks."""
    file = tmp_path / "idle.properties"
    file.write_text(f"name=idle\nconnector.class={SOURCE}\ncount=3\ntasks.max=3\n")
    return str(file)


def test_connectors_are_created_listed_and_described(run: Command, idle: str, connect: Connect) -> None:
    assert "no connectors yet: kafka-lite connect create FILE" in run()
    assert run("create", idle) == "Created connector idle.\n"
    assert run("create", idle) == "Changed connector idle.\n"
    eventually(lambda: "3 RUNNING" in run("list"))
    listed = run("list")
    row = next(line for line in listed.splitlines() if line.strip().startswith("idle"))
    worker = connect.rest.worker_id
    assert row.split() == ["idle", "source", "IdleSourceConnector", "RUNNING", "3", "RUNNING", worker]
    assert [line.split() for line in listed.splitlines() if line.strip().startswith(worker)] == [[worker, "1", "3"]]
    described = run("describe", "idle")
    assert described.splitlines()[0] == "idle · source · IdleSourceConnector"
    assert ["task", "2", "RUNNING", worker] in [line.split() for line in described.splitlines()]
    assert ["count", "3"] in [line.split() for line in described.splitlines()]


def test_programs_get_json(run: Command, idle: str) -> None:
    run("create", idle)
    (listed,) = json.loads(run("list", "--json"))
    described = json.loads(run("describe", "idle", "--json"))
    assert listed["config"] == described["config"]
    assert described["status"]["connector"]["state"] == "RUNNING"
    assert run("plugins").splitlines()[-1].startswith("org.apache.kafka.connect.file.")


def test_connectors_are_paused_stopped_resumed_and_deleted(run: Command, idle: str) -> None:
    run("create", idle)

    def state() -> str:
        return str(json.loads(run("describe", "idle", "--json"))["status"]["connector"]["state"])

    assert run("pause", "idle") == "Paused connector idle.\n"
    eventually(lambda: state() == "PAUSED")
    assert run("stop", "idle") == "Stopped connector idle.\n"
    assert state() == "STOPPED"
    assert run("resume", "idle") == "Resumed connector idle.\n"
    eventually(lambda: state() == "RUNNING")
    assert run("delete", "idle") == "Deleted connector idle.\n"
    assert "idle" not in run()


def test_a_failure_is_shown_and_what_has_failed_is_restarted(run: Command, tmp_path: Path, idle: str) -> None:
    failing = tmp_path / "failing.json"
    config = {"connector.class": SOURCE, "count": 2, "tasks.max": 2, "fails": "task"}
    failing.write_text(json.dumps({"name": "failing", "config": config}))
    run("create", idle, str(failing))
    eventually(lambda: "2 FAILED" in run())
    assert "failing, task 1: ValueError: the task fails" in run()
    assert "failing, task" not in run("describe", "idle")
    assert "Traceback" in run("describe", "failing", "--trace")
    assert run("restart", "failing") == "Restarted connector failing and 2 of its tasks.\n"
    assert run("restart", "idle") == "Restarted connector idle.\n"
    assert run("restart", "failing", "--task", "1") == "Restarted task 1 of connector failing.\n"


def test_one_request_restarts_a_connector_with_its_tasks_or_what_has_failed(
    run: Command, tmp_path: Path, idle: str
) -> None:
    failing = tmp_path / "failing.json"
    config = {"connector.class": SOURCE, "count": 2, "tasks.max": 2, "fails": "task"}
    failing.write_text(json.dumps({"name": "failing", "config": config}))
    run("create", idle, str(failing))
    eventually(lambda: "2 FAILED" in run() and "3 RUNNING" in run())
    assert run("restart", "failing", "--include-tasks", "--only-failed") == "Restarting 2 of 2 tasks.\n"
    assert run("restart", "idle", "--include-tasks") == "Restarting connector idle and 3 of 3 tasks.\n"
    eventually(lambda: "3 RUNNING" in run())
    assert run("restart", "idle", "--only-failed") == "Nothing of connector idle has failed.\n"


def test_an_old_worker_restarts_the_connector_alone(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConnectRest, "restart_with_tasks", lambda *_, **__: None)
    assert run("restart", "idle", "--include-tasks").startswith("Restarted connector idle alone: ")


@pytest.mark.parametrize("width", [80, 120])
def test_the_live_table_fits(connect: Connect, run: Command, tmp_path: Path, width: int) -> None:
    for number in range(9):
        file = tmp_path / f"{number}.properties"
        name = f"a-connector-with-a-long-name-{number}"
        file.write_text(f"name={name}\nconnector.class={SOURCE}\ncount=1\n")
        run("create", str(file))
    rest = ConnectRest(connect.rest.worker_id)
    console = Console(width=width, height=16, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(frame_of(rest, console))
    rest.close()
    lines = captured.get().splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.strip().startswith("a-connector-with-a-long-name-3") for line in lines)
    assert "… and 5 more" in captured.get()


def test_the_lag_of_a_sink_is_shown(run: Command, tmp_path: Path, idle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = tmp_path / "sink.properties"
    sink.write_text(f"name=sink\nconnector.class={SINK}\ntopics=t\n")
    run("create", idle, str(sink))
    monkeypatch.setattr(
        command, "sink_lags", lambda servers, names, **_: {name: 1234 for name in names if servers == "b:1"}
    )
    assert "lag" not in run("list")
    assert "lag" not in run("--bootstrap-server", "other:1")
    listed = run("--bootstrap-server", "b:1")
    assert "lag" in listed
    rows = {line.split()[0]: line.split() for line in listed.splitlines() if line.strip()}
    assert rows["sink"][-1] == "1,234"
    assert rows["idle"][-1] != "1,234"


def test_watching_ends_with_ctrl_c(connect: Connect, monkeypatch: pytest.MonkeyPatch, run: Command) -> None:
    turns = 0

    class Clock:
        def sleep(self, ms: float) -> None:
            nonlocal turns
            turns += 1
            if turns == 2:
                connect.rest.stop()
            if turns == 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(command, "SYSTEM_TIME", Clock())
    assert "Waiting for it to come back. Ctrl-C exits." in run("--watch")
    assert turns == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["describe", "none"], "Connector none not found"),
        (["pause", "none"], "Unknown connector none"),
        (["delete", "none"], "Connector none not found"),
        (["create", "no/such/file"], "no/such/file: No such file or directory"),
    ],
)
def test_refusals_are_one_line(
    connect: Connect, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert main(["connect", "--worker", connect.rest.worker_id, *arguments]) == 1
    assert capsys.readouterr().err == f"{problem}\n"


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("name=a\nx = 1\n", {"name": "a", "x": "1"}),
        ('{"name": "a", "x": 1, "y": true}', {"name": "a", "x": "1", "y": "true"}),
        ('{"name": "a", "config": {"x": "1"}}', {"name": "a", "x": "1"}),
    ],
)
def test_files_of_connectors(tmp_path: Path, text: str, config: dict[str, str]) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    assert connector_config(file) == config


@pytest.mark.parametrize(
    ("text", "problem"), [("x=1", "has no name"), ("{x", "is not JSON"), ('{"a": 1}', "has no name")]
)
def test_files_of_no_connector(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(ToolError, match=problem):
        connector_config(file)
