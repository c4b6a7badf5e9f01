"""The files and command lines of the processes, without starting any."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.properties import load_properties
from kafka_lite.server.broker_process import BrokerProcess
from kafka_lite.tools.main import main
from pipeline import ureplicator_processes
from pipeline.ureplicator_processes import MirrorProcesses


class NoProcess:
    """Instead of Popen."""

    started: list[list[str]]

    def __init__(self, command: list[str], **_options: Any) -> None:
        NoProcess.started.append(command)
        self.signals: list[str] = []

    def poll(self) -> int | None:
        return 0 if self.signals else None

    def terminate(self) -> None:
        self.signals.append("TERM")

    def kill(self) -> None:
        self.signals.append("KILL")

    def wait(self, _timeout_s: float | None = None) -> int:
        return 0


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MirrorProcesses:
    NoProcess.started = []
    monkeypatch.setattr("pipeline.ureplicator_processes.subprocess.Popen", NoProcess)
    mirror = MirrorProcesses(tmp_path, ExitStack())
    mirror.target = BrokerProcess(tmp_path)
    return mirror


def test_a_worker_has_files_that_the_command_takes(
    mirror: MirrorProcesses, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror.start_worker("w1")
    command = NoProcess.started[0]
    assert command[3] == "ureplicator-worker"
    helix = load_properties(tmp_path / "w1" / "helix.properties")
    assert (helix["instanceId"], helix["helixClusterName"]) == ("w1", ureplicator_processes.CLUSTER)
    assert helix["zkServer"].endswith("/helix")
    consumer = load_properties(tmp_path / "w1" / "consumer.properties")
    assert consumer["zookeeper.connect"].endswith("/source")
    with pytest.raises(SystemExit):  # the flags are there; it stops at the one that is not
        main([*command[3:], "--no-such-flag"])
    assert "--no-such-flag" in capsys.readouterr().err


def test_a_worker_that_was_killed_is_started_again(mirror: MirrorProcesses) -> None:
    running = []
    for end in ("kill", "stop"):
        mirror.start_worker("w1")
        worker = mirror.workers["w1"]
        running.append(worker.is_running)
        getattr(worker, end)()
        running.append(worker.is_running)
    assert running == [True, False, True, False]
    assert NoProcess.started[0] == NoProcess.started[1]
