"""What is collected at the end of a file of tests, and what is left alone from then on."""

from __future__ import annotations

import gc
import sys
import weakref

import pytest

from tests.support.garbage import OTHER_CLIENTS, garbage_of_other_clients_collected


class Node:
    """Refers to itself, so that only the garbage collector ends it."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture
def another_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, OTHER_CLIENTS[0], sys.modules[__name__])


@pytest.mark.usefixtures("another_client")
def test_garbage_is_collected_and_what_is_alive_is_left_alone_from_then_on() -> None:
    alive = Node()
    with garbage_of_other_clients_collected():
        dead = weakref.ref(Node())
    assert dead() is None
    assert all(each is not alive for each in gc.get_objects())


def test_without_another_client_nothing_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OTHER_CLIENTS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    frozen = gc.get_freeze_count()
    with garbage_of_other_clients_collected():
        pass
    assert gc.get_freeze_count() == frozen
