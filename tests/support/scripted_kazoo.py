"""A kazoo client whose results are written down, and a ZooKeeperClient on it: no server, and no waiting."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from kazoo import exceptions as kazoo
from kazoo.protocol.states import KeeperState

from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

LOST = kazoo.ConnectionLoss


def kazoo_stat(version: int) -> Any:
    numbers = dict.fromkeys(("ctime", "mtime", "czxid", "mzxid", "pzxid", "cversion", "aversion"), 0)
    return SimpleNamespace(version=version, ephemeralOwner=None, dataLength=1, numChildren=0, **numbers)


class Transaction:
    def __init__(self, client: ScriptedKazoo) -> None:
        self.operations: list[Any] = []
        self._client = client

    def commit(self) -> Any:
        return self._client.answer("commit", self.operations)


class Asynchronous:
    def __init__(self, get: Callable[[], Any]) -> None:
        self.get = get


class ScriptedKazoo:
    """Answers each call with the next scripted result, and notes the calls."""

    connected, client_id, client_state = True, (77, b"secret"), KeeperState.CONNECTED

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.script: list[Any] = []
        self.handler = SimpleNamespace(spawn=lambda function, *args: function(*args))

    def answer(self, *call: Any) -> Any:
        self.calls.append(call)
        result = self.script.pop(0)
        if isinstance(result, type) and issubclass(result, Exception):
            raise result
        return result

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_async"):
            return lambda *args: Asynchronous(lambda: self.answer(name, *args))
        return lambda *args, **kwargs: self.answer(name, *args)

    def transaction(self) -> Transaction:
        return Transaction(self)

    def stop(self) -> None: ...

    def close(self) -> None: ...


def scripted_kazoo(monkeypatch: pytest.MonkeyPatch) -> ScriptedKazoo:
    """The kazoo client of each session from now on."""
    scripted = ScriptedKazoo()
    scripted.add_listener = lambda listener: setattr(scripted, "heard", listener)
    scripted.start_async = lambda: SimpleNamespace(wait=lambda timeout_s: True)
    monkeypatch.setattr("kafka_lite.zookeeper.zookeeper_session.KazooClient", lambda *args, **kwargs: scripted)
    return scripted


def connected_client() -> ZooKeeperClient:
    """A client that is connected to it."""
    client = ZooKeeperClient("zk:2181/kafka/", session_timeout_ms=6000, connection_timeout_ms=1000)
    client._retry.sleep_func = client._retry_without_room.sleep_func = lambda seconds: None
    client.connect()
    return client
