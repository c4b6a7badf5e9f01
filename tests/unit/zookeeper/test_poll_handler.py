"""What kazoo waits with: like its own ``select``, for any number of files."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest
from kazoo.handlers.utils import selector_select

from kafka_lite.zookeeper.poll_handler import PollHandler
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    near, far = socket.socketpair()
    with near, far:
        yield near, far


def test_sessions_wait_with_it() -> None:
    client = ZooKeeperClient("127.0.0.1:1", session_timeout_ms=1000, connection_timeout_ms=1000)
    assert isinstance(client._client.handler, PollHandler)
    client.close()


def test_nothing_is_ready_after_the_timeout(pair: Pair) -> None:
    assert PollHandler().select([pair[0]], [], [], 0) == ([], [], [])
    assert PollHandler().select([pair[0]], [], [], 0.0004) == ([], [], [])


def test_readers_and_writers_that_are_ready(pair: Pair) -> None:
    near, far = pair
    far.send(b"x")
    assert PollHandler().select([near, far], [], [], 5) == ([near], [], [])
    assert PollHandler().select([far], [near], [], 5) == ([], [near], [])
    assert PollHandler().select([near], [], [], None) == ([near], [], [])


@pytest.mark.parametrize("cut", [socket.socket.close, lambda far: far.shutdown(socket.SHUT_RDWR)])
def test_a_peer_that_is_gone_makes_readers_ready_as_in_kazoo(pair: Pair, cut) -> None:  # type: ignore[no-untyped-def]
    near, far = pair
    cut(far)
    assert PollHandler().select([near], [], [], 5) == selector_select([near], [], [], 5) == ([near], [], [])


def test_a_closed_file_is_an_error(pair: Pair) -> None:
    pair[0].close()
    with pytest.raises(ValueError):
        PollHandler().select([pair[0]], [], [], 0)


def test_file_numbers_above_those_of_select(pair: Pair) -> None:
    near, far = pair
    try:
        os.dup2(near.fileno(), 1500)
    except OSError:
        pytest.skip("this process may not have 1,500 files")
    with socket.socket(fileno=1500) as high:
        far.send(b"x")
        assert PollHandler().select([high], [], [], 5) == ([high], [], [])
