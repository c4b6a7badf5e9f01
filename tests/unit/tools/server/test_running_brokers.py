"""How server-stop finds brokers."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_lite.tools.server.running_brokers import RunningBrokers
from tests.support.patience import patient_s

BROKER = """
import signal, sys
from pathlib import Path
from kafka_lite.tools.server.running_brokers import RunningBrokers
RunningBrokers(Path(sys.argv[1])).enter({"broker.id": "7", "log.dirs": "/a b"})
print("entered", flush=True)
signal.pause()
"""


def start_broker(directory: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", BROKER, str(directory)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "entered\n"
    return process


def test_no_broker_is_found_without_a_directory(tmp_path: Path) -> None:
    assert RunningBrokers(tmp_path / "not there").find() == []


def test_a_running_broker_is_found_and_stopped(tmp_path: Path) -> None:
    with start_broker(tmp_path) as process:
        (found,) = RunningBrokers(tmp_path).find()
        assert found.pid == process.pid
        assert found.facts == {"broker.id": "7", "log.dirs": "/a b"}
        assert found.is_running()
        found.stop()
        assert process.wait(patient_s(60)) == -signal.SIGTERM
    assert not found.is_running()


def test_a_broker_that_is_registering_is_not_mistaken_for_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, others_found = fcntl.flock, []

    def look_then_lock(fd: int, operation: int) -> None:
        if operation == fcntl.LOCK_EX:
            monkeypatch.undo()
            others_found.append(RunningBrokers(tmp_path).find())
        lock(fd, operation)

    monkeypatch.setattr(fcntl, "flock", look_then_lock)
    brokers = RunningBrokers(tmp_path)
    brokers.enter({"broker.id": "7"})
    assert others_found == [[]]
    (found,) = RunningBrokers(tmp_path).find()
    assert (found.pid, found.facts) == (os.getpid(), {"broker.id": "7"})
    brokers.leave()
    assert list(tmp_path.iterdir()) == []


def test_the_file_of_a_killed_broker_is_removed(tmp_path: Path) -> None:
    with start_broker(tmp_path) as process:
        process.kill()
    assert list(tmp_path.iterdir()) != []
    assert RunningBrokers(tmp_path).find() == []
    assert list(tmp_path.iterdir()) == []


def test_a_pid_reused_by_another_process_is_not_a_broker(tmp_path: Path) -> None:
    (tmp_path / f"{os.getpid()}.properties").write_text("broker.id=0\n")
    assert RunningBrokers(tmp_path).find() == []


def test_other_files_are_ignored(tmp_path: Path) -> None:
    other = tmp_path / "notes.properties"
    other.write_text("mine")
    assert RunningBrokers(tmp_path).find() == []
    assert other.exists()


def test_a_broker_that_leaves_is_not_found(tmp_path: Path) -> None:
    brokers = RunningBrokers(tmp_path)
    brokers.enter({"broker.id": "1"})
    assert [broker.pid for broker in RunningBrokers(tmp_path).find()] == [os.getpid()]
    brokers.leave()
    assert list(tmp_path.iterdir()) == []
    brokers.leave()


def test_an_unwritable_directory_does_not_prevent_a_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    brokers = RunningBrokers(tmp_path / "file" / "below")
    with caplog.at_level(logging.WARNING):
        brokers.enter({})
    assert "`kafka-lite server-stop` will not find this broker" in caplog.text
    brokers.leave()
