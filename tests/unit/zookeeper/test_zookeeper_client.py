"""Reads and writes on a scripted kazoo client: errors, fences, and transactions of which a part fails."""

from __future__ import annotations

import pytest
from kazoo import exceptions as kazoo
from kazoo.client import KazooState

from kafka_lite.zookeeper.node_operations import CheckNode, CreateNode, DeleteNode, SetNode
from kafka_lite.zookeeper.zk_errors import (
    BadVersionError,
    FencedError,
    NodeExistsError,
    NoNodeError,
    ZkConnectionError,
    ZkError,
)
from kafka_lite.zookeeper.zookeeper_client import MAX_OPERATIONS_AT_ONCE, ZooKeeperClient
from tests.support.scripted_kazoo import LOST, ScriptedKazoo, connected_client, kazoo_stat, scripted_kazoo


@pytest.fixture
def kazoo_client(monkeypatch: pytest.MonkeyPatch) -> ScriptedKazoo:
    return scripted_kazoo(monkeypatch)


@pytest.fixture
def client(kazoo_client: ScriptedKazoo) -> ZooKeeperClient:
    return connected_client()


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
    with pytest.raises(ours, match=r"\(/a\)") as raised:
        client.set("/a", b"", 1)
    assert isinstance(raised.value.__cause__, theirs)
    assert raised.value.__cause__.__traceback__ is None, "its frames refer to a result of kazoo, which refers to it"


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
