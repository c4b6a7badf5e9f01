"""Task 1: only the results of this poll, and no waiting if there are results."""

from types import SimpleNamespace

import pytest

from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.network.nio_selector import BOTH, READ, WRITE
from kafka_lite.network.send import NetworkSend


def results_of(selector):
    """The five collections that a poll fills."""
    return (
        selector.connected,
        selector.disconnected,
        selector.failed_authentications,
        selector.completed_sends,
        selector.completed_receives,
    )


def without_work(selector):
    """A selector in which only ``poll`` itself runs; records the timeouts that it passes to ``_select``."""
    timeouts = []
    selector._select = lambda timeout_ms: timeouts.append(timeout_ms) or []
    selector._do_at_once = lambda *_: None
    selector._complete_receives = lambda: None
    selector._close_idle_connections = lambda _now_ms: None
    return timeouts


@pytest.mark.points(3, task=1)
def test_old_results_are_cleared(selector):
    """Results of the previous poll"""
    without_work(selector)
    before = results_of(selector)
    selector.connected.append("a")
    selector.disconnected["b"] = "refused"
    selector.failed_authentications["b"] = SaslAuthenticationError("wrong password")
    selector.completed_sends.append("send")
    selector.completed_receives.append("receive")
    selector.poll(0)
    results = results_of(selector)
    assert not any(results), (
        f"these are results of the previous poll, returned twice: {[each for each in results if each]}"
    )
    assert all(one is other for one, other in zip(results, before, strict=True)), (
        "clear the collections, do not create new ones: a caller may keep a reference to them"
    )


@pytest.mark.points(2, task=1)
def test_how_long_it_waits(selector):
    """Without and with something to do"""
    timeouts = without_work(selector)
    selector.poll(300)
    assert timeouts == [300], f"nothing to do: wait for up to 300 ms, not {timeouts[0]}"
    selector._ready_receives["a"] = None
    selector.poll(300)
    assert timeouts[1] == 0, (
        f"a staged frame can be handed out: do not wait (0), but you would wait for up to {timeouts[1]} ms"
    )
    selector._ready_receives.clear()
    selector._new_sends["a"] = None
    selector._do_at_once = lambda *_: selector.disconnected.update(a="gone")
    selector.poll(300)
    assert timeouts[2] == 0, (
        f"a connection was lost before select: do not wait (0), but you would wait for {timeouts[2]} ms"
    )
    for name in ("completed_sends", "connected"):
        selector._do_at_once = lambda *_, name=name: getattr(selector, name).append("a")
        selector.poll(300)
        assert timeouts[-1] == 0, (
            f"there is a result in {name} before select: do not wait (0), but for {timeouts[-1]} ms"
        )


@pytest.mark.points(2, task=1)
def test_before_and_after_select(selector):
    """Three collections of channels; then a socket with an error, and one that nobody knows any more"""
    without_work(selector)
    served, done = [], []
    collections = {"_immediately_connected": WRITE, "_new_sends": WRITE, "_unread": READ}
    for name in collections:
        getattr(selector, name)["a"] = name
    selector._do_at_once = lambda channels, ready: served.append((channels["a"], ready)) or channels.clear()
    selects = selector.counters.selects
    selector.poll(0)
    assert dict(served) == collections, (
        f"these channels have something to do, and the kernel says nothing of it: {collections}; you served {served}"
    )
    counted = selector.counters.selects - selects
    assert counted == 1, f"each poll is counted once (self.counters.polled), not {counted} times"
    selector.peer("b")
    fd = selector.fd_of("b")
    selector._select = lambda _timeout_ms: [(fd, 8), (fd + 1000, READ)]
    selector._guarded_io = lambda channel, ready: done.append((channel.id, ready))
    try:
        selector.poll(0)
    except KeyError:
        pytest.fail(
            "a socket may have been closed by an earlier event of the same select: nothing belongs to it any more"
        )
    assert done == [("b", BOTH)], f"any other event is an error: reading and writing finds it, BOTH, not {done}"


@pytest.mark.points(2, task=1)
def test_a_new_send_is_tried_at_once(selector, frames):
    """send, and then one poll"""
    peer = selector.peer("a")
    selector.send(NetworkSend("a", [b"hello"]))
    selector.poll(0)
    assert [send.destination for send in selector.completed_sends] == ["a"], (
        "most frames fit into the socket's buffer: try at once (self._do_at_once), before select"
    )
    assert peer.recv(100) == frames(b"hello"), "the frame did not arrive as it was sent"


@pytest.mark.points(2, task=1)
def test_a_used_connection_is_not_idle(selector, frames):
    """A frame arrives after 4.9 of 5 seconds"""
    peer = selector.peer("a")
    selector.time.sleep(4_900)
    peer.sendall(frames(b"still here"))
    selector.poll(100)
    selector.time.sleep(4_900)
    selector.poll(0)
    assert selector.channel("a") is not None, "a frame arrived 4.9 s ago: the connection has not been idle for 5 s"
    selector.time.sleep(200)
    selector.poll(0)
    assert "a" in selector.disconnected, "5.1 s without a byte: close idle connections in every poll"


@pytest.mark.points(2, task=1)
def test_the_times_of_a_poll(selector):
    """Select takes 5 ms, what follows 2"""
    without_work(selector)
    begin_ms = selector.time.hi_res_ms()
    selector._select = lambda _timeout_ms: selector.time.sleep(5) or []
    idle_at, counted = [], []
    selector._close_idle_connections = lambda now_ms: idle_at.append(now_ms - begin_ms) or selector.time.sleep(2)
    counting = lambda *times: counted.extend(time_ms - begin_ms for time_ms in times)  # noqa: E731
    selector.counters = SimpleNamespace(polled=counting)
    selector.poll(20)
    assert idle_at == [5], f"idle connections are judged by the time right after select, 5 ms, not {idle_at}"
    assert counted[:2] == [0, 5], f"counters.polled gets the times before and after select, 0 and 5, not {counted[:2]}"
    assert counted[2:] == [7], f"counters.polled comes last, and gets the time of the end, 7, not {counted[2:]}"


@pytest.mark.points(1, task=1)
def test_refused_peers_wait_for_their_answers(selector):
    """A password was wrong 60 ms ago, its delay is 100 ms; then two delays are over"""
    timeouts, refused = without_work(selector), []
    selector._refuse = lambda *pair: refused.append(pair)
    waiting = SimpleNamespace(timeout_ms=lambda timeout_ms, _now_ms: min(timeout_ms, 40), due=lambda _now_ms: [])
    selector._delayed_closings = waiting
    selector.poll(300)
    assert timeouts == [40], f"the first delay ends in 40 ms (_delayed_closings.timeout_ms): not {timeouts[0]} ms"
    due = [("a", SaslAuthenticationError("wrong password")), ("b", SaslAuthenticationError("unknown user"))]
    waiting.due = lambda _now_ms: due
    selector.poll(300)
    assert refused == due, f"each peer whose delay is over gets its refusal (self._refuse): {refused}"


@pytest.mark.points(1, task=1)
def test_the_time_of_a_connection(selector):
    """One frame takes 3 ms, with and without a quota of time"""
    selector.peer("a")
    channel, fd = selector.channel("a"), selector.fd_of("a")
    selector._select = lambda _timeout_ms: [(fd, READ)]
    selector._guarded_io = lambda _channel, _ready: selector.time.sleep(3)
    selector.poll(0)
    assert channel.network_thread_time_ms == 0, "nobody asks for the time (records_network_thread_time): ask no clock"
    selector.records_network_thread_time = True
    selector.poll(0)
    measured = channel.network_thread_time_ms
    assert measured == 3, f"a quota needs the time of each connection (self._measured_io): 3 ms, not {measured}"
