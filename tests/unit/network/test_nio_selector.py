"""Which sockets are ready, with epoll and without."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator

import pytest

from kafka_lite.network.nio_selector import BOTH, READ, WRITE, NioSelector
from kafka_lite.network.selector import Selector
from kafka_lite.network.send import NetworkSend


@pytest.fixture(params=["epoll", "selectors"])
def nio_selector(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[NioSelector]:
    if request.param == "selectors":
        monkeypatch.delattr(select, "epoll", raising=False)
    elif not hasattr(select, "epoll"):
        pytest.skip("this system has no epoll")
    selector = NioSelector()
    monkeypatch.undo()
    yield selector
    selector.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    left, right = socket.socketpair()
    with left, right:
        yield left, right


def test_events_carry_the_file_descriptor(nio_selector: NioSelector, pair: tuple[socket.socket, socket.socket]) -> None:
    left, right = pair
    nio_selector.register(left, READ, "left")
    assert nio_selector.attachments == {left.fileno(): "left"}
    assert nio_selector.select(0) == []
    right.send(b"x")
    assert nio_selector.select(30) == [(left.fileno(), READ)]
    nio_selector.modify(left, WRITE)
    assert nio_selector.select(30) == [(left.fileno(), WRITE)]
    nio_selector.modify(left, BOTH)
    assert nio_selector.select(30) == [(left.fileno(), BOTH)]
    nio_selector.unregister(left)
    assert nio_selector.attachments == {}
    assert nio_selector.select(0) == []


def test_the_end_of_a_connection_is_a_read_event(
    nio_selector: NioSelector, pair: tuple[socket.socket, socket.socket]
) -> None:
    left, right = pair
    nio_selector.register(left, READ, None)
    right.close()
    ((fd, ready),) = nio_selector.select(30)
    assert fd == left.fileno()
    assert ready & READ


def test_a_negative_timeout_does_not_wait(nio_selector: NioSelector) -> None:
    """For epoll, -1 would mean for ever."""
    assert nio_selector.select(-1) == []


def test_a_selector_works_without_epoll(
    monkeypatch: pytest.MonkeyPatch, pair: tuple[socket.socket, socket.socket]
) -> None:
    monkeypatch.delattr(select, "epoll", raising=False)
    left, right = pair
    left.setblocking(False)
    selector = Selector()
    selector.register("c", left, "peer")
    right.sendall(b"\0\0\0\1x")
    selector.poll(30_000)
    (receive,) = selector.completed_receives
    assert bytes(receive.payload) == b"x"
    selector.send(NetworkSend("c", [b"yz"]))
    selector.poll(0)
    assert right.recv(10) == b"\0\0\0\2yz"
    right.close()
    selector.poll(30_000)
    assert list(selector.disconnected) == ["c"]
    selector.close()
