"""Task 3: fair, in order, and nothing is left behind."""

import pytest


@pytest.mark.points(6, task=3)
def test_pipelined_frames(selector, frames):
    """Three frames in one piece"""
    selector.peer("a").sendall(frames(b"1", b"2", b"3"))
    got = []
    for number in range(1, 4):
        selector.poll(100)
        new = selector.received()
        assert len(new) <= 1, f"one frame per connection and poll, for requests are handled in order: {len(new)}"
        got += new
        assert len(got) == number, f"frame {number} of three is staged, but this poll did not hand it out"
    assert got == [("a", b"1"), ("a", b"2"), ("a", b"3")], f"in the order of arrival: {got}"


@pytest.mark.points(5, task=3)
def test_no_connection_waits_for_another(selector, frames):
    """One connection with many frames, one with a single frame"""
    selector.peer("a").sendall(frames(*[b"%d" % n for n in range(50)]))
    selector.peer("b").sendall(frames(b"me too"))
    got = []
    for _ in range(3):
        selector.poll(50)
        got += selector.received()
    assert ("b", b"me too") in got, "b has sent one frame, but waits until a's fifty frames are handed out"


@pytest.mark.points(5, task=3)
def test_muted_between_two_frames(selector, frames):
    """The first of two is handed out, then the connection is muted"""
    selector.peer("a").sendall(frames(b"1", b"2"))
    selector.poll_for(selector.received)
    selector.mute("a")
    selector.poll(20)
    assert selector.received() == [], "a was muted after its first frame: the second stays staged"
    selector.unmute("a")
    selector.poll(20)
    assert selector.received() == [("a", b"2")], f"unmuted: the staged frame is received, not {selector.received()}"


@pytest.mark.points(4, task=3)
def test_reading_resumes(selector, frames):
    """More frames after the staged ones"""
    peer = selector.peer("a")
    peer.sendall(frames(b"1", b"2"))
    selector.poll_for(lambda: selector.received() == [("a", b"2")])
    peer.sendall(frames(b"3"))
    found = selector.poll_for(selector.received, polls=10)
    assert found == [("a", b"3")], "all staged frames are handed out, but the connection is never read again"
