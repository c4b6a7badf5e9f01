"""A worker is made of its properties. Nothing is asked of a broker yet, and a failure leaves no port taken."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.connect import Connect
from kafka_lite.connect.runtime.new_connect import new_distributed_connect, new_standalone_connect
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.connect.connect_cluster import WORKER_DEFAULTS
from tests.support.connect_plugins import FakeClients


@pytest.fixture
def props(tmp_path: Path) -> dict[str, str]:
    return {**WORKER_DEFAULTS, "offset.storage.file.filename": str(tmp_path / "connect.offsets")}


def _distributed(props: Mapping[str, str]) -> Connect:
    return new_distributed_connect(props, clients=FakeClients())  # type: ignore[arg-type]


def test_a_distributed_worker_asks_no_broker_until_it_is_started(props: dict[str, str]) -> None:
    clients = FakeClients()
    connect = new_distributed_connect(props, clients=clients)  # type: ignore[arg-type]
    connect.stop()
    assert (clients.admins, clients.producers, clients.consumers) == ([], [], [])


@pytest.mark.parametrize("new_connect", [new_standalone_connect, _distributed])
def test_a_worker_whose_metrics_port_is_taken_leaves_its_rest_port_free(
    props: dict[str, str], new_connect: Callable[[Mapping[str, str]], Any]
) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = {"rest.port": str(port), "metrics.http.port": str(taken.getsockname()[1])}
        with pytest.raises(ConnectError):
            new_connect(props | ports)
    socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.parametrize("new_connect", [new_standalone_connect, _distributed])
def test_a_worker_finds_the_classes_of_its_plugin_path(
    props: dict[str, str],
    new_connect: Callable[[Mapping[str, str]], Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    connect = new_connect(props | {"plugin.path": str(tmp_path)})
    connect.stop()
    assert sys.path[-1] == str(tmp_path)
