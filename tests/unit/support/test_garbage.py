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
def test_garbage_is_collected_and_what_was_alive_at_the_beginning_is_left_alone() -> None:
    earlier, alive = weakref.ref(Node()), Node()
    with garbage_of_other_clients_collected():
        assert earlier() is None
        assert all(each is not alive for each in gc.get_objects())
        dead = weakref.ref(Node())
    assert dead() is None


def test_without_another_client_nothing_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OTHER_CLIENTS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    frozen = gc.get_freeze_count()
    with garbage_of_other_clients_collected():
        pass
    assert gc.get_freeze_count() == frozen
