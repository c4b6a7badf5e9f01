"""A session on a scripted kazoo client: lost connections, expired sessions, the end of a client."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from kazoo import exceptions as kazoo
from kazoo.client import KazooState
from kazoo.protocol.states import KeeperState

from kafka_lite.common.shutdownable_thread import ProcessKilledError
from kafka_lite.zookeeper.zk_errors import ZkConnectionError, ZkStorageError
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient
from kafka_lite.zookeeper.zookeeper_session import SessionEvent
from tests.support.scripted_kazoo import LOST, ScriptedKazoo, connected_client, kazoo_stat, scripted_kazoo


@pytest.fixture
def kazoo_client(monkeypatch: pytest.MonkeyPatch) -> ScriptedKazoo:
    return scripted_kazoo(monkeypatch)


@pytest.fixture
def client(kazoo_client: ScriptedKazoo) -> ZooKeeperClient:
    return connected_client()


def test_a_read_is_repeated_until_the_connection_is_back(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.script = [LOST, LOST, (b"data", kazoo_stat(3))]
    data, stat = client.get("/a")
    assert (data, stat.version, stat.ephemeral_owner) == (b"data", 3, 0)
    assert kazoo_client.calls == [("get", "/a")] * 3


def test_a_write_waits_for_room_unless_it_may_be_refused(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.script = [kazoo.SystemZookeeperError, kazoo_stat(4)]
    assert client.set("/a", b"") == 4
    kazoo_client.script = [kazoo.SystemZookeeperError]
    with client.refusing_without_room(), pytest.raises(ZkStorageError):
        client.set("/a", b"")
    client.stop_waiting_for_room()
    kazoo_client.script = [kazoo.SystemZookeeperError]
    with pytest.raises(ZkStorageError):
        client.set("/a", b"")


def test_a_closed_client_refuses_calls(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    client.close()
    client.close()
    assert client.is_closed
    for call in (lambda: client.get("/a"), lambda: client.get_all(["/a"]), lambda: client.commit([])):
        with pytest.raises(ZkConnectionError, match="this ZooKeeper client is closed"):
            call()
    assert kazoo_client.calls == []


def test_no_server_is_an_error_with_its_address(kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.start_async = lambda: SimpleNamespace(wait=lambda timeout_s: False)
    with pytest.raises(ZkConnectionError, match="'zk:2181' with timeout of 1000 ms"):
        ZooKeeperClient("zk:2181/kafka", 6000, 1000).connect()


@pytest.mark.parametrize(
    ("state", "keeper", "event"),
    [
        (KazooState.SUSPENDED, KeeperState.CONNECTING, SessionEvent.DISCONNECTED),
        (KazooState.LOST, KeeperState.EXPIRED_SESSION, SessionEvent.EXPIRED),
        (KazooState.LOST, KeeperState.AUTH_FAILED, SessionEvent.AUTH_FAILED),
        (KazooState.CONNECTED, KeeperState.CONNECTED, SessionEvent.SYNC_CONNECTED),
        (KazooState.CONNECTED, KeeperState.CONNECTED_RO, SessionEvent.CONNECTED_READ_ONLY),
    ],
)
def test_changes_of_the_session_are_events(
    client: ZooKeeperClient, kazoo_client: ScriptedKazoo, state: str, keeper: Any, event: SessionEvent
) -> None:
    events: list[SessionEvent] = []
    client.add_event_listener(events.append)
    kazoo_client.client_state = keeper
    kazoo_client.heard(state)
    assert events == [event]


def test_only_a_new_session_calls_its_listeners(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    sessions: list[str] = []
    client.add_session_listener(lambda: sessions.append("new"))
    for state in (KazooState.SUSPENDED, KazooState.CONNECTED):
        kazoo_client.heard(state)
    assert sessions == []
    for state in (KazooState.LOST, KazooState.CONNECTED):
        kazoo_client.heard(state)
    assert sessions == ["new"]


def test_a_halted_client_ends_other_threads_silently(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    client._halting_thread = -1  # as if another thread had called halt()
    with pytest.raises(ProcessKilledError):
        client.get("/a")
    assert kazoo_client.calls == []
