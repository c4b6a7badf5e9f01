"""A server as a process: ready once it listens, explained if it fails, gone afterwards."""

from __future__ import annotations

import itertools
import signal
import socket
import sys
from pathlib import Path

import pytest

from kafka_lite.common.properties import load_properties
from kafka_lite.server import broker_process
from kafka_lite.server.broker_process import HOST, PORTS, BrokerProcess, BrokerStartError, ServerProcess, free_port

LISTENER = """
import socket, sys, time
print("\\x1b[32mlistening\\x1b[0m", flush=True)
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
time.sleep(60)
"""


def server(folder: Path, program: str, *, own_session: bool = True) -> ServerProcess:
    port = free_port()
    return ServerProcess([sys.executable, "-c", program, str(port)], port, folder / "log", own_session=own_session)


@pytest.mark.parametrize("own_session", [True, False])
def test_a_process_is_ready_when_it_listens_and_ends_on_request(tmp_path: Path, own_session: bool) -> None:
    process = server(tmp_path, LISTENER, own_session=own_session)
    assert not process.is_running
    assert process.start() > 0
    assert process.is_running
    assert process.is_ready()
    assert process.log() == "listening\n"
    assert process.stop() == -signal.SIGTERM
    assert not process.is_running
    assert process.stop() is None
    assert not process.is_ready()


@pytest.mark.parametrize("own_session", [True, False])
def test_a_killed_broker_can_be_restarted(tmp_path: Path, own_session: bool) -> None:
    with server(tmp_path, LISTENER, own_session=own_session) as process:
        assert process.kill() == -signal.SIGKILL
        assert process.kill() is None
        process.start()
        assert process.is_running
    assert not process.is_running


def test_the_end_of_the_log_explains_a_failed_start(tmp_path: Path) -> None:
    process = server(tmp_path, "print('no such disk'); raise SystemExit(3)")
    with pytest.raises(BrokerStartError, match=r"exit code 3(.|\n)*no such disk"):
        process.start()
    assert not process.is_running
    with pytest.raises(BrokerStartError, match="is not running"):
        _ = process.process


def test_a_server_on_a_taken_port_is_not_started(tmp_path: Path) -> None:
    process = server(tmp_path, LISTENER)
    with (
        socket.create_server((HOST, process.port)),
        pytest.raises(BrokerStartError, match=f"Another server listens on 127.0.0.1:{process.port}: stop it, or use"),
    ):
        process.start()
    assert not process.is_running


def test_a_process_that_has_ended_is_not_ready_although_another_listens_on_its_port(tmp_path: Path) -> None:
    process = server(tmp_path, "raise SystemExit(1)")
    process.spawn()
    process.process.wait()
    with (
        socket.create_server((HOST, process.port)),
        pytest.raises(BrokerStartError, match="ended with exit code 1"),
    ):
        process._await_ready(0)


def test_the_settings_are_written_for_a_later_restart_by_hand(tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path, {"listeners": "PLAINTEXT://127.0.0.1:4711", "num.io.threads": "3"})
    assert broker.bootstrap_servers == "127.0.0.1:4711"
    settings = load_properties(tmp_path / "server.properties")
    assert settings["listeners"] == "PLAINTEXT://127.0.0.1:4711"
    assert settings["num.io.threads"] == "3"
    assert settings["zookeeper.connect"] == "embedded"
    assert settings["log.dirs"] == str(tmp_path / "kafka-logs")
    assert broker.command[-2:] == ["server-start", str(tmp_path / "server.properties")]


def test_free_ports_are_unique_unused_and_outside_the_ephemeral_range(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broker_process, "_port_numbers", itertools.count(7))
    first, second = free_port(), free_port()
    assert first != second
    assert {first, second} <= set(PORTS)
    monkeypatch.setattr(broker_process, "_port_numbers", itertools.count(7))
    with socket.create_server((HOST, first)):
        assert free_port() > first
