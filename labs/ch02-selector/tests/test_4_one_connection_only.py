"""Task 4: any error costs only one connection."""

import logging
import struct

import pytest

from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.network.nio_selector import BOTH
from kafka_lite.network.send import NetworkSend


class Broken:
    """A part of a response that cannot be sent: its file is closed."""

    size_in_bytes = 10

    def send_to(self, _sock, _offset, _length):
        raise ValueError("the file is closed")


def polled(selector):
    """Poll; fails with an explanation if it raises."""
    try:
        selector.poll(50)
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001
        pytest.fail(f"poll raised {error!r}: one connection is broken, but all other connections end with the thread")


@pytest.mark.points(4, task=4)
def test_the_peer_closes_its_connection(selector, frames, caplog):
    """Two connections, one is closed by its peer"""
    selector.peer("a").close()
    selector.peer("b").sendall(frames(b"alive"))
    with caplog.at_level(logging.INFO):
        polled(selector)
    assert caplog.records == [], "connections end all the time: log it at debug, not where everybody must read it"
    assert list(selector.disconnected) == ["a"], f"a is closed: it belongs in disconnected, {selector.disconnected}"
    assert selector.received() == [("b", b"alive")], "b is not affected, but its frame was not received"


@pytest.mark.points(4, task=4)
def test_a_bad_size(selector, caplog):
    """A frame of minus one bytes"""
    selector.peer("a").sendall(struct.pack(">i", -1) + b"GET / HTTP/1.1")
    with caplog.at_level(logging.INFO):
        polled(selector)
    assert list(selector.disconnected) == ["a"], "after a bad size nothing can be trusted: close the connection"
    (record,) = caplog.records or [None]
    assert record is not None, "the peer sends garbage: one log line says which peer"
    assert record.exc_info is None, "a bad size is an error of the peer, not of ours: log a line, not a traceback"


@pytest.mark.points(5, task=4)
def test_an_error_of_ours(selector, frames, caplog):
    """A response that cannot be written"""
    selector.peer("a")
    selector.peer("b").sendall(frames(b"alive"))
    selector.send(NetworkSend("a", [Broken()]))
    polled(selector)
    lost = dict(selector.disconnected)
    polled(selector)
    lost.update(selector.disconnected)
    assert selector.channel("a") is None, "half a response may have been sent: the connection is unusable, close it"
    assert list(lost) == ["a"], f"whoever uses a must hear that it is closed: it belongs in disconnected, {lost}"
    assert selector.channel("b") is not None, "b is not affected"
    assert "ValueError" in caplog.text, "the error is ours: logger.exception, with the traceback"


@pytest.mark.points(1, task=4)
def test_the_reason_is_kept(selector):
    """An error of the system, and one without its words"""
    for error, words in ((OSError(104, "Connection reset"), "Connection reset"), (OSError("timed out"), "timed out")):
        selector.peer("a")

        def fail(*_, error=error):
            raise error

        selector._do_io = fail
        selector._guarded_io(selector.channel("a"), BOTH)
        reason = selector.disconnected.pop("a")
        assert words in str(reason), f"_disconnect gets the reason: {error!r} has the words {words!r}, not {reason!r}"


@pytest.mark.points(1, task=4)
def test_a_wrong_password(selector, caplog):
    """A peer that is not who it says"""
    selector.peer("a")
    wrong = SaslAuthenticationError("wrong password")

    def fail(*_):
        raise wrong

    selector._do_io = fail
    with caplog.at_level(logging.INFO):
        selector._guarded_io(selector.channel("a"), BOTH)
    assert "wrong password" in str(selector.disconnected.get("a")), (
        f"the connection is closed, with the reason: {selector.disconnected}"
    )
    assert selector.failed_authentications == {"a": wrong}, (
        "a client must not try again with the same password: failed_authentications says why"
        f" (self._authentication_failed), not {selector.failed_authentications}"
    )
    assert [record.levelname for record in caplog.records] == ["INFO"], "one line at info says who was refused, and why"
