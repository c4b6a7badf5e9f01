"""Task 3: fair, in order, and nothing is left behind."""

import struct

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


@pytest.mark.points(3, task=3)
def test_no_connection_waits_for_another(selector, frames):
    """One connection with many frames, one with a single frame"""
    selector.peer("a").sendall(frames(*[b"%d" % n for n in range(50)]))
    selector.peer("b").sendall(frames(b"me too"))
    got = []
    for _ in range(3):
        selector.poll(50)
        got += selector.received()
    assert ("b", b"me too") in got, "b has sent one frame, but waits until a's fifty frames are handed out"


@pytest.mark.points(4, task=3)
def test_muted_between_two_frames(selector, frames):
    """The first of two is handed out, then the connection is muted"""
    selector.peer("a").sendall(frames(b"1", b"2"))
    selector.poll_for(selector.received)
    selector.mute("a")
    selector.poll(20)
    assert selector.received() == [], "a was muted after its first frame: the second stays staged"
    assert not selector._ready_receives, "a hands out nothing until unmute, so it is not ready: poll would never sleep"
    selector.unmute("a")
    selector.poll(20)
    assert selector.received() == [("a", b"2")], f"unmuted: the staged frame is received, not {selector.received()}"


@pytest.mark.points(1, task=3)
def test_nothing_is_staged_any_more(selector, frames):
    """A channel whose frame was taken meanwhile"""
    selector.peer("a").sendall(frames(b"1"))
    channel = selector.channel("a")
    selector.poll_for(selector.received)
    selector._clear()
    selector._ready_receives["a"] = channel
    try:
        selector._complete_receives()
    except IndexError:
        pytest.fail("a has no staged frame any more: hand out frames of those channels only that have one")
    assert selector.received() == [], "a has no staged frame any more: there is nothing to hand out"


@pytest.mark.points(2, task=3)
def test_one_of_each(selector, frames):
    """Three connections with three frames each, the first of which is then muted"""
    for name in "abc":
        selector.peer(name).sendall(frames(b"1", b"2", b"3"))
    for number in (b"1", b"2"):
        selector.poll(50)
        got = sorted(selector.received())
        assert got == [(name, number) for name in "abc"], f"one frame of each of the three connections; yours {got}"
    assert selector.counters.receives == 6, "each frame that is handed out is counted: take_staged does that"
    selector.mute("a")
    selector.poll(50)
    got = sorted(selector.received())
    assert got == [("b", b"3"), ("c", b"3")], f"a is muted, b and c are not: {got}"


@pytest.mark.points(2, task=3)
def test_a_bad_size_behind_a_frame(selector, frames):
    """Frames, and then a frame of minus five bytes"""
    selector.peer("a").sendall(frames(b"1", b"2") + struct.pack(">i", -5))
    got = []
    for _ in range(5):
        selector.poll(20)
        got += selector.received()
        if selector.disconnected:
            break
    assert got == [("a", b"1"), ("a", b"2")], f"the frames before the bad size are handed out: {got}"
    assert "a" in selector.disconnected, (
        "the frames are handed out: now the bad size behind them gets its turn, although the kernel reports nothing"
    )


@pytest.mark.points(2, task=3)
def test_reading_resumes(selector, frames):
    """More frames after the staged ones"""
    peer = selector.peer("a")
    peer.sendall(frames(b"1", b"2"))
    selector.poll_for(lambda: selector.received() == [("a", b"2")])
    peer.sendall(frames(b"3", b"4"))
    selector.poll_for(selector.received)
    peer.sendall(frames(b"5"))
    selector.poll(20)  # 4 is staged: the bytes of 5 must not be read yet
    assert selector.received() == [("a", b"4")], f"4 was staged: {selector.received()}"
    found = selector.poll_for(selector.received, polls=10)
    assert found == [("a", b"5")], "all staged frames are handed out, but the connection is never read again"
