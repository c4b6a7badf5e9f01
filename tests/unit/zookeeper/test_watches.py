"""What a watch gives to the client that sets it, and when it calls."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from kazoo.protocol.states import EventType

from kafka_lite.zookeeper.watches import Watch, Watches
from kafka_lite.zookeeper.zk_errors import ZkConnectionError, ZkError

CHANGED = SimpleNamespace(type=EventType.CHANGED)


class Client:
    """Keeps what is set, as kazoo does in a set for each path."""

    def __init__(self) -> None:
        self.set: list[Callable[[Any], None]] = []
        self.errors: list[Exception] = []
        self.calls: list[str] = []

    def arm(self, fired: Callable[[Any], None]) -> None:
        if self.errors:
            raise self.errors.pop()
        self.set.append(fired)

    def watch(self, name: str = "called") -> Watch:
        return Watch(self.arm, lambda: self.calls.append(name))


def test_the_client_gets_the_watch_itself_so_that_its_order_in_a_set_is_its_own() -> None:
    client = Client()
    watch = client.watch()
    watch.arm()
    assert client.set == [watch]
    assert client.set[0] is watch


def test_a_watch_that_fires_is_set_again_before_it_calls() -> None:
    client = Client()
    watch = client.watch()
    watch.arm()
    client.set.pop()(CHANGED)
    assert (client.set, client.calls) == ([watch], ["called"])


def test_a_lost_connection_is_no_change() -> None:
    client = Client()
    client.watch()(SimpleNamespace(type=EventType.NONE))
    assert (client.set, client.calls) == ([], [])


@pytest.mark.parametrize(("error", "calls"), [(ZkConnectionError("closed"), []), (ZkError("no"), ["called"])])
def test_a_watch_that_cannot_be_set_again_calls_unless_the_client_is_closed(error: ZkError, calls: list[str]) -> None:
    client = Client()
    client.errors = [error]
    client.watch()(CHANGED)
    assert client.calls == calls


def test_a_callback_that_fails_ends_nothing() -> None:
    def fail() -> None:
        raise ValueError("no")

    client = Client()
    Watch(client.arm, fail)(CHANGED)
    assert len(client.set) == 1


def test_only_the_last_watch_of_a_path_calls_but_the_client_may_still_have_both() -> None:
    client, watches = Client(), Watches()
    watches.set("data", "/a", client.watch("first"))
    watches.set("data", "/a", client.watch("second"))
    for fired in list(client.set):
        fired(CHANGED)
    assert client.calls == ["second"]
    watches.rearm_all()
    assert client.calls == ["second", "second"]
    watches.remove("data", "/a")
    watches.remove("data", "/a")
    client.set[-1](CHANGED)
    watches.rearm_all()
    assert client.calls == ["second", "second"]
