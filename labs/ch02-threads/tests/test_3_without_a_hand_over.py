"""Task 3: what does not wait is handled where it was read."""

import threading
import time

import pytest

from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.server.quick_requests import InlineRequestHandler


def inline_of(inside, quick=lambda _request: True):
    return InlineRequestHandler(inside.channel, inside.apis, quick, inside.time)


@pytest.mark.points(8, task=3)
def test_quick_and_slow_ones(inside):
    """A quick one, a slow one, and a chain of three whose last is slow"""
    inline = inline_of(inside, lambda request: request.header.correlation_id < 10)
    (quick,) = inside.chain(1)
    assert inline.handle(quick) is None, "a quick request is done: nothing is left to queue"
    (slow,) = inside.chain(10)
    assert inline.handle(slow) is slow, "a slow one is left for the request queue"
    assert inside.apis.handled == [1], f"and is not handled here; yours handled {inside.apis.handled}"
    first, _, last = inside.chain(2, 3, 11)
    left = inline.handle(first)
    assert inside.apis.handled == [1, 2, 3], f"the two quick ones of the chain, in order; yours: {inside.apis.handled}"
    assert left is last, f"the slow one behind them is left; yours: {left}"


@pytest.mark.points(6, task=3)
def test_a_thread_says_what_it_does(inside):
    """The flag of the network thread: before, within, after a request, and after an error"""
    flags = []
    inline = inline_of(inside, lambda _request: flags.append(list(inline._at_work)) or True)
    assert inline._at_work == [False]
    inline.handle(inside.chain(1)[0])
    assert flags == [[True]], f"while it handles a request, the flag of its processor is set; yours: {flags}"
    assert inline._at_work == [False], "and afterwards it is not, or shutdown waits for ever"

    def fail(_request):
        raise ValueError("a bug")

    inline._is_quick = fail
    with pytest.raises(ValueError):
        inline.handle(inside.chain(2)[0])
    assert inline._at_work == [False], "an error ends the handling, too: try, finally"


@pytest.mark.points(6, task=3)
def test_a_shutdown(inside, in_thread, monkeypatch):
    """shutdown while a chain of two is handled"""
    begun, door, naps = threading.Event(), threading.Event(), []
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda s: naps.append(s) or sleep(s))

    def stay(request):
        begun.set()
        door.wait(5)
        inside.channel.no_operation(request)

    inside.apis.instead[1] = stay
    inline = inline_of(inside)
    left = []
    first, second = inside.chain(1, 2)
    handling = in_thread(lambda: left.append(inline.handle(first)))
    assert handling.reaches(begun), "the first request is quick: handle it here"
    stopping = in_thread(inline.shutdown)
    assert not stopping.ended(0.1), "a network thread is still handling a request: shutdown waits for it (_at_work)"
    assert inside.channel.quick_handler is None, "later requests are queued: the channel has no quick handler any more"
    assert naps, "shutdown sleeps between two looks: a loop that computes holds the GIL, which the others need"
    door.set()
    assert handling.ended(5)
    assert stopping.ended(5), "the request is done: shutdown returns"
    assert left == [second], f"the broker stops: the second request is left, not handled; yours: {left}"
    assert inside.apis.handled == [1], f"only the first was handled; yours: {inside.apis.handled}"


@pytest.mark.points(5, task=3)
def test_two_flags(inside):
    """Who sets first and reads then is seen by at least one side"""
    seen = []

    class Watched(RequestChannel):
        @property
        def quick_handler(self):
            seen.append(("read", any(self.at_work)))
            return self.handler

        @quick_handler.setter
        def quick_handler(self, handler):
            self.handler = handler

    Watched.at_work = [False]
    inside.channel = Watched(1, 100, inside.time)
    inside.apis._channel = inside.channel
    inline = inline_of(inside)
    inside.channel.at_work = inline._at_work
    inline.handle(inside.chain(1)[0])
    assert seen, "before each request, look whether the channel still has a quick handler"
    assert seen[0] == ("read", True), (
        "set your flag before you read quick_handler: otherwise shutdown may set it to None and find no flag between "
        "your two steps"
    )

    class Flags(list):
        def __iter__(self):
            seen.append(("flags", inside.channel.handler))
            return super().__iter__()

    inline._at_work = Flags([False])
    seen.clear()
    inline.shutdown()
    flags = [each for each in seen if each[0] == "flags"]
    assert flags == [("flags", None)], (
        f"shutdown takes the quick handler away before it looks at the flags, the other way round; yours: {flags}"
    )
