"""A session's calls on a scripted kazoo client: lost connections, errors, and transactions of which a part fails."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from kazoo import exceptions as kazoo
from kazoo.client import KazooState
from kazoo.protocol.states import KeeperState

from kafka_lite.common.shutdownable_thread import ProcessKilledError
from kafka_lite.zookeeper.node_operations import CheckNode, CreateNode, DeleteNode, SetNode
from kafka_lite.zookeeper.zk_errors import (
    BadVersionError,
    FencedError,
    NodeExistsError,
    NoNodeError,
    ZkConnectionError,
    ZkError,
    ZkStorageError,
)
from kafka_lite.zookeeper.zookeeper_client import MAX_OPERATIONS_AT_ONCE, SessionEvent, ZooKeeperClient

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


@pytest.fixture
def kazoo_client(monkeypatch: pytest.MonkeyPatch) -> ScriptedKazoo:
    scripted = ScriptedKazoo()
    scripted.add_listener = lambda listener: setattr(scripted, "heard", listener)
    scripted.start_async = lambda: SimpleNamespace(wait=lambda timeout_s: True)
    monkeypatch.setattr("kafka_lite.zookeeper.zookeeper_client.KazooClient", lambda *args, **kwargs: scripted)
    return scripted


@pytest.fixture
def client(kazoo_client: ScriptedKazoo) -> ZooKeeperClient:
    client = ZooKeeperClient("zk:2181/kafka/", session_timeout_ms=6000, connection_timeout_ms=1000)
    client._retry.sleep_func = client._retry_without_room.sleep_func = lambda seconds: None
    client.connect()
    return client


def test_a_read_is_repeated_until_the_connection_is_back(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.script = [LOST, LOST, (b"data", kazoo_stat(3))]
    data, stat = client.get("/a")
    assert (data, stat.version, stat.ephemeral_owner) == (b"data", 3, 0)
    assert kazoo_client.calls == [("get", "/a")] * 3


def test_a_create_that_was_sent_twice_may_find_its_own_node(
    client: ZooKeeperClient, kazoo_client: ScriptedKazoo
) -> None:
    kazoo_client.script = [LOST, kazoo.NodeExistsError]
    with pytest.raises(NodeExistsError, match="/a"):
        client.create("/a", b"")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (kazoo.NoNodeError, NoNodeError),
        (kazoo.BadVersionError, BadVersionError),
        (kazoo.ConnectionClosedError, ZkConnectionError),
        (kazoo.NoAuthError, ZkError),
    ],
)
def test_errors_are_ours_and_name_the_path(
    client: ZooKeeperClient, kazoo_client: ScriptedKazoo, theirs: type, ours: type[ZkError]
) -> None:
    kazoo_client.script = [theirs]
    with pytest.raises(ours, match=r"\(/a\)"):
        client.set("/a", b"", 1)


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


def test_a_missing_node_has_neither_stat_nor_children(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.script = [None, kazoo.NoNodeError, ["b", "a"]]
    assert client.exists("/a") is None
    assert client.children("/a") == []
    assert client.children("/a") == ["a", "b"]


def test_missing_parents_are_created(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.script = [kazoo.NoNodeError, "/a", "/a/b"]
    client.create_recursive("/a/b", b"x")
    assert kazoo_client.calls == [("create", "/a/b", b"x"), ("create", "/a", None), ("create", "/a/b", b"x")]


def test_a_node_that_appears_while_it_is_created_is_written(
    client: ZooKeeperClient, kazoo_client: ScriptedKazoo
) -> None:
    kazoo_client.script = [kazoo.NoNodeError, kazoo.NodeExistsError, kazoo_stat(1)]
    client.set_or_create("/a", b"x")
    assert [call[0] for call in kazoo_client.calls] == ["set", "create", "set"]


def test_a_transaction_is_below_the_chroot(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.script = [["/kafka/a", kazoo_stat(8), True]]
    assert client.write_all([CreateNode("/a", None), SetNode("/b", b"", 7), DeleteNode("/c")]) == [None, 8, None]
    ((_, operations),) = kazoo_client.calls
    assert [operation.path for operation in operations] == ["/kafka/a", "/kafka/b", "/kafka/c"]


def test_a_transaction_of_which_a_part_fails_is_sent_again_one_by_one(
    client: ZooKeeperClient, kazoo_client: ScriptedKazoo
) -> None:
    rolled_back = [kazoo.RolledBackError(), kazoo.NoNodeError(), kazoo.RuntimeInconsistency()]
    kazoo_client.script = [rolled_back, "/a", kazoo.NoNodeError, LOST, True]
    results = client.write_all([CreateNode("/a", b""), SetNode("/b", b""), DeleteNode("/c")])
    assert results[0] is results[2] is None
    assert isinstance(results[1], NoNodeError)
    names = [call[0] for call in kazoo_client.calls]
    assert names == ["commit", "create_async", "set_async", "delete_async", "delete"]


def test_many_operations_are_several_transactions(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    operations = [DeleteNode(f"/{number}") for number in range(MAX_OPERATIONS_AT_ONCE + 2)]
    kazoo_client.script = [[True] * MAX_OPERATIONS_AT_ONCE, [True, True]]
    assert client.write_all(operations) == [None] * len(operations)
    assert [len(call[1]) for call in kazoo_client.calls] == [MAX_OPERATIONS_AT_ONCE, 2]


def test_a_transaction_that_fails_changes_nothing(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.script = [LOST, [kazoo.RolledBackError(), kazoo.BadVersionError()]]
    first, second = client.commit([CreateNode("/a", b""), SetNode("/b", b"", 3)])
    assert isinstance(first, ZkError)
    assert isinstance(second, BadVersionError)
    assert [call[0] for call in kazoo_client.calls] == ["commit", "commit"]


def test_a_check_is_for_transactions_only(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    with pytest.raises(ValueError, match="is for transactions only"):
        client.write_all([CheckNode("/a", 1)])


def test_a_fenced_write_is_a_transaction_with_a_check(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.script = [
        [True, kazoo_stat(5)],
        [kazoo.BadVersionError(), kazoo.RuntimeInconsistency()],
        kazoo_stat(6),
    ]
    with client.fenced_by("/controller_epoch", 3):
        assert client.set("/a", b"") == 5
        with pytest.raises(FencedError, match="/controller_epoch has changed since version 3"):
            client.delete("/a")
    assert client.set("/a", b"") == 6
    assert [call[0] for call in kazoo_client.calls] == ["commit", "commit", "set"]


def test_many_reads_return_their_errors(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    kazoo_client.script = [(b"a", kazoo_stat(1)), kazoo.NoNodeError, LOST, (b"c", kazoo_stat(2))]
    first, second, third = client.get_all(["/a", "/b", "/c"])
    assert not isinstance(first, ZkError)
    assert not isinstance(third, ZkError)
    assert (first[0], third[0]) == (b"a", b"c")
    assert isinstance(second, NoNodeError)
    assert kazoo_client.calls[-1] == ("get", "/c"), "sent again on its own"


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


def test_watches_are_set_again_after_a_lost_connection(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    fired: list[str] = []
    kazoo_client.script = [[], None, [], None]
    client.watch_children("/a", lambda: fired.append("children"))
    client.watch_data("/b", lambda: fired.append("data"))
    kazoo_client.heard(KazooState.CONNECTED)
    assert fired == ["children", "data"]
    client.unwatch("/a")
    kazoo_client.script = [None]
    kazoo_client.heard(KazooState.CONNECTED)
    assert fired == ["children", "data", "data"]


def test_a_halted_client_ends_other_threads_silently(client: ZooKeeperClient, kazoo_client: ScriptedKazoo) -> None:
    client._halting_thread = -1  # as if another thread had called halt()
    with pytest.raises(ProcessKilledError):
        client.get("/a")
    assert kazoo_client.calls == []
