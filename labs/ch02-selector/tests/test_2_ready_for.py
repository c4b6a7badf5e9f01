"""Task 2: connect, read, write; but no read while muted."""

import socket
from types import SimpleNamespace

import pytest

from kafka_lite.network.kafka_channel import AUTHENTICATE
from kafka_lite.network.nio_selector import BOTH, READ, WRITE
from kafka_lite.network.selector import WAKEUP
from kafka_lite.network.send import NetworkSend


@pytest.mark.points(4, task=2)
def test_connecting(selector, listener):
    """A connection is established"""
    selector.connect("a", *listener.getsockname())
    found = selector.poll_for(lambda: list(selector.connected))
    assert found == ["a"], f"the connection to a is open: connected is ['a'], once, not {found}"
    selector.poll(0)
    assert selector.connected == [], "the connection was already reported"
    assert selector.is_channel_ready("a"), "the channel must be READY: finish_connect does that"


@pytest.mark.points(4, task=2)
def test_a_refused_connection(selector):
    """The port is closed"""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    selector.connect("a", "127.0.0.1", port)
    connected = []
    selector.poll_for(lambda: connected.extend(selector.connected) or selector.disconnected or connected)
    assert not connected, "the port is closed, but you report connected: ask the socket for the result (finish_connect)"
    assert "a" in selector.disconnected, "the connection was refused: it belongs in disconnected"


@pytest.mark.points(4, task=2)
def test_a_frame_larger_than_the_socket_buffer(selector):
    """Four million bytes, and a peer that reads slowly"""
    peer = selector.peer("a")
    selector.send(NetworkSend("a", [bytes(4_000_000)]))
    selector.poll(0)
    assert selector.completed_sends == [], (
        "half of the frame has been sent: not a completed send yet (write() returns None)"
    )
    got = 0
    while got < 4_000_004:
        got += len(peer.recv(1 << 20))
        selector.poll(0)
        if selector.completed_sends:
            break
    assert selector.completed_sends, "the peer has read everything, but the frame was never in the completed sends"


@pytest.mark.points(2, task=2)
def test_both_events(selector, frames):
    """A frame comes in and one goes out; then a frame is staged; then the channel is closed"""
    peer, channel = selector.peer("a"), selector.channel("a")
    peer.sendall(frames(b"in"))
    channel.set_send(NetworkSend("a", [b"out"]))
    selector._do_io(channel, BOTH)
    assert channel.staged, "both events: read, and write. The frame that came in was not read"
    assert [send.destination for send in selector.completed_sends] == ["a"], "both events: the send was not written"
    assert selector.counters.sends == 1, f"a completed send is counted (self.counters.sent): {selector.counters.sends}"
    peer.sendall(frames(b"more"))
    selector._read(channel)
    count = len(channel.staged)
    assert count == 1, f"a frame is staged, so nothing more is read (may_read); {count} are staged"
    selector.close("a")
    try:
        selector._do_io(channel, BOTH)
    except OSError as error:
        pytest.fail(f"the channel is CLOSED: an event that comes too late, nothing to do ({error})")


@pytest.mark.points(2, task=2)
def test_only_what_it_is_ready_for(selector, monkeypatch):
    """Ready to read, with a frame to send; ready to write, without one"""
    selector.peer("a")
    channel, written = selector.channel("a"), []
    monkeypatch.setattr(type(channel), "write", lambda _channel: written.append("frame"))
    selector._do_io(channel, WRITE)
    assert not written, "there is nothing to send (has_send): do not write"
    channel.set_send(NetworkSend("a", [b"out"]))
    selector._do_io(channel, READ)
    assert not written, "the channel is ready to read, not to write: a full socket would refuse the bytes"
    selector._do_io(channel, WRITE)
    assert written, "the channel is ready to write, and has a frame to send: write"


@pytest.mark.points(2, task=2)
def test_a_muted_connection(selector, frames):
    """Bytes arrive, but must not be read"""
    peer = selector.peer("a")
    selector.mute("a")
    peer.sendall(frames(b"wait"))
    selector.poll(50)
    assert selector.received() == [], "the connection is muted: hand out nothing"
    assert not selector.channel("a").staged, (
        "the connection is muted: do not read (may_read), so that TCP slows it down"
    )
    watched = [channel for channel in selector._selector.attachments.values() if channel != WAKEUP]
    assert watched == [], "it is still watched for reading: poll would always return at once (pause_reading)"
    selector.unmute("a")
    found = selector.poll_for(selector.received)
    assert found == [("a", b"wait")], f"after unmute the frame must be received, not {found}"


@pytest.mark.points(1, task=2)
def test_a_handshake(selector):
    """Two messages, the first request behind the second"""
    steps, answers = [], [False, True]
    channel = SimpleNamespace(id="a", state=AUTHENTICATE, may_read=True, has_send=False)
    channel.prepare = lambda: steps.append("prepare") or answers.pop(0)
    channel.read = lambda _buffer: steps.append("read")
    selector._do_io(channel, BOTH)
    assert steps == ["prepare"], (
        f"AUTHENTICATE: prepare() once, and no more; the bytes are its own, not frames: {steps}"
    )
    assert not selector._unread, "the handshake is not over: prepare() returned False"
    selector._do_io(channel, BOTH)
    assert steps == ["prepare"] * 2, f"AUTHENTICATE: prepare() only; what follows is read by the next poll: {steps}"
    assert list(selector._unread) == ["a"], "a request may have come with the end of the handshake (_read_at_once)"


class Decrypting:
    """A channel with a frame in three parts, of which the kernel reports the first."""

    id = "a"
    may_read = True

    def __init__(self):
        self.parts, self.staged, self.asked = 3, [], 0

    @property
    def reads_without_event(self):
        self.asked += 1
        assert self.asked < 10, "you ask for decrypted bytes, and do not read them: read() again while there are any"
        return self.parts > 0

    def read(self, _buffer):
        if self.parts == 0:
            raise BlockingIOError
        self.parts -= 1
        if self.parts == 0:
            self.staged.append("frame")


@pytest.mark.points(1, task=2)
def test_decrypted_bytes(selector):
    """One event, and a transport that has more"""
    channel = Decrypting()
    selector._read(channel)
    assert channel.parts == 0, f"{channel.parts} parts are decrypted, and the kernel will not report them: read again"
    assert list(selector._ready_receives) == ["a"], "the frame is complete: poll hands it out (_ready_receives)"
