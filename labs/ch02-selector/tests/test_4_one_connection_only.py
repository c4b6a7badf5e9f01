"""Task 4: whatever goes wrong costs one connection."""

import logging
import struct

import pytest

from kafka_lite.network.send import NetworkSend


class Broken:
    """A part of an answer that cannot be sent: its file is closed."""

    size_in_bytes = 10

    def send_to(self, _sock, _offset, _length):
        raise ValueError("the file is closed")


def polled(selector):
    """Poll; a failure that says so if anything comes out of it."""
    try:
        selector.poll(50)
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001
        pytest.fail(f"poll raised {error!r}: one connection is broken, and all other connections die with the thread")


@pytest.mark.points(5, task=4)
def test_the_peer_goes_away(selector, frames):
    """Two connections, one is closed by its peer"""
    selector.peer("a").close()
    selector.peer("b").sendall(frames(b"alive"))
    polled(selector)
    assert list(selector.disconnected) == ["a"], (
        f"a is gone: it belongs among the disconnected, {selector.disconnected}"
    )
    assert selector.received() == [("b", b"alive")], "b has nothing to do with it, and its frame did not come"


@pytest.mark.points(5, task=4)
def test_a_bad_size(selector, caplog):
    """A frame of minus one bytes"""
    selector.peer("a").sendall(struct.pack(">i", -1) + b"GET / HTTP/1.1")
    with caplog.at_level(logging.INFO):
        polled(selector)
    assert list(selector.disconnected) == ["a"], "nothing that follows a bad size can be trusted: close the connection"
    (record,) = caplog.records or [None]
    assert record is not None, "somebody talks rubbish to us: one line in the log says who"
    assert record.exc_info is None, "a bad size is the peer's mistake, not ours: a line, not a traceback"


@pytest.mark.points(5, task=4)
def test_a_mistake_of_ours(selector, frames, caplog):
    """An answer that cannot be written"""
    selector.peer("a")
    selector.peer("b").sendall(frames(b"alive"))
    selector.send(NetworkSend("a", [Broken()]))
    polled(selector)
    polled(selector)
    assert selector.channel("a") is None, "half an answer may be out: the connection is of no use any more, close it"
    assert selector.channel("b") is not None, "b has nothing to do with it"
    assert "ValueError" in caplog.text, "the mistake is ours: logger.exception, with the traceback"
