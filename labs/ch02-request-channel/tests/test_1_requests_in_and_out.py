"""Task 1: one queue for all handlers."""

import time

import pytest


@pytest.mark.points(3, task=1)
def test_requests_leave_the_queue_in_order(new_channel, new_request):
    """Three requests in, three out, in order"""
    channel = new_channel()
    requests = [new_request(number) for number in (1, 2, 3)]
    for request in requests:
        channel.send_request(request)
    assert channel.request_queue_size == 3, f"three were queued, {channel.request_queue_size} are in the queue"
    taken = [channel.receive_request(0) for _ in requests]
    assert taken == requests, (
        "first in, first out: requests must leave the queue in the order in which they were queued"
    )


@pytest.mark.points(2, task=1)
def test_the_bound(new_channel, new_request):
    """The third request of two waits for room, and is then queued"""
    channel, sizes = new_channel(queue_size=2), []
    channel._wait_for_room = lambda: sizes.append(channel.request_queue_size)
    for number in (1, 2, 3):
        channel.send_request(new_request(number))
    assert sizes, "two requests are waiting and queue_size is 2: the third one must wait for room (_wait_for_room)"
    assert sizes[-1] == 2, f"first wait for room, then put: two requests were queued then, not {sizes[-1]}"
    size = channel.request_queue_size
    assert size == 3, f"after the wait there is room: queue the request; {size} of 3 are in the queue"


@pytest.mark.points(4, task=1)
def test_an_empty_queue_returns_none_after_the_timeout(new_channel, in_thread):
    """No request within 50 ms"""
    start = time.monotonic()
    assert new_channel().receive_request(50) is None, "no request came within the timeout: None"
    waited_ms = (time.monotonic() - start) * 1000
    assert waited_ms >= 45, f"you waited {waited_ms:.0f} ms of 50"
    assert waited_ms < 2000, f"you waited {waited_ms:.0f} ms instead of 50: do you use timeout_ms as seconds?"
    handler = in_thread(lambda: new_channel().receive_request(0))
    assert handler.ended(2), "a timeout of 0 ms is no time at all, only None is no limit: return at once"


@pytest.mark.points(2, task=1)
def test_a_handler_can_be_woken_without_a_request(new_channel, in_thread):
    """wake_up_handler ends a receive_request without a timeout"""
    channel = new_channel()
    results = []
    handler = in_thread(lambda: results.append(channel.receive_request()))
    assert not handler.ended(0.05), "without a timeout, receive_request waits for ever; yours returned at once"
    channel.wake_up_handler()
    assert handler.ended(2), "wake_up_handler puts None into the queue: receive_request returns it"
    assert results == [None], f"there was no request to return, but you returned {results[0]!r}"


@pytest.mark.points(4, task=1)
def test_taking_a_request_notifies_waiting_processors(new_channel, new_request, in_thread):
    """A taken request makes room for another"""
    channel = new_channel()
    channel.send_request(new_request())
    told = []

    def wait_for_news():
        with channel._room:
            channel._waiting_processors += 1
            told.append(channel._room.wait(2))

    waiting = in_thread(wait_for_news)
    while not channel._waiting_processors:
        time.sleep(0.001)
    try:
        channel.receive_request(0)
    except RuntimeError as error:
        pytest.fail(f"self._room is a Condition: notify it with its lock held ({error})")
    assert waiting.ended(3), "the processor that waits for room never woke up: notify self._room under its lock"
    assert told == [True], "a processor waited for room, a request was taken, but self._room was not notified"
