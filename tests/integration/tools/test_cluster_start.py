"""``kafka-lite cluster-start``: brokers in processes of their own, one of which dies and returns."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kafka_lite.server.broker_process import free_port, takes_connections
from tests.support.eventually import eventually
from tests.support.patience import patient_s
from tests.support.ports import consecutive_ports

COMMAND = [sys.executable, "-m", "kafka_lite.tools.main"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An empty home, so that only this test's brokers are found."""
    return os.environ | {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}


class Started:
    """A cluster of two brokers, in a process group of its own."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.zookeeper_port = free_port()
        self.port = consecutive_ports(2)
        self._log = folder / "cluster.log"
        options = ["--brokers", "2", "--port", str(self.port), "--zookeeper-port", str(self.zookeeper_port)]
        self.left_over = folder / "broker-7" / "pid"  # of a cluster of more brokers that was killed
        self.left_over.parent.mkdir()
        self.left_over.write_text("1\n")
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*COMMAND, "cluster-start", "--dir", str(folder), *options],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def output(self) -> str:
        assert self.process.poll() is None or self.process.returncode == 0, self._log.read_text()
        return self._log.read_text()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(patient_s(60))


@pytest.fixture
def started(tmp_path: Path, environment: dict[str, str]) -> Iterator[Started]:
    with closing(Started(tmp_path, environment)) as started:
        eventually(lambda: "Ctrl-C stops everything." in started.output())
        yield started


@pytest.mark.soak
def test_a_broker_is_killed_and_started_again_by_hand_and_everything_ends_together(
    started: Started, environment: dict[str, str]
) -> None:
    assert not started.left_over.exists()
    pids = [int(pid) for pid in re.findall(r"broker \d: .*, process (\d+),", started.output())]
    assert pids == [int((started.folder / f"broker-{each}" / "pid").read_text()) for each in (0, 1)]
    os.kill(pids[1], signal.SIGKILL)
    pid_file = started.folder / "broker-1" / "pid"
    eventually(lambda: not pid_file.exists())
    eventually(lambda: "Broker 1 was killed by signal 9. Start it again:" in started.output())
    (advice,) = re.findall(r"Start it again: .*server-start (.*)", started.output())
    assert takes_connections(started.zookeeper_port)
    with (started.folder / "again.log").open("wb") as log:
        again = subprocess.Popen([*COMMAND, "server-start", advice], env=environment, stdout=log, stderr=log)
    eventually(lambda: "started: " in (started.folder / "again.log").read_text())
    eventually(lambda: pid_file.exists() and int(pid_file.read_text()) == again.pid)
    started.process.send_signal(signal.SIGTERM)
    assert started.process.wait(patient_s(60)) == 0
    assert again.wait(patient_s(60)) == 0
    assert not any(map(takes_connections, (started.port, started.port + 1, started.zookeeper_port)))
    assert list(started.folder.glob("broker-*/pid")) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--brokers", "0"], "--brokers 0"),
        (["--override", "broker.id=7"], "--override broker.id"),
        (["--port", "20000", "--zookeeper-port", "20001"], "Port 20001"),
    ],
)
def test_what_cannot_be_started_is_said(arguments: list[str], message: str, tmp_path: Path) -> None:
    command = [*COMMAND, "cluster-start", "--dir", str(tmp_path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient_s(60), check=False)
    assert done.returncode == 1
    assert message in done.stderr


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        command = [*COMMAND, "cluster-start", "--dir", str(tmp_path), "--zookeeper-port", port]
        done = subprocess.run(command, capture_output=True, text=True, timeout=patient_s(60), check=False)
    assert done.returncode == 1
    assert f"Port {port} of 127.0.0.1 is in use" in done.stderr
