"""Task 2: a processor waits while the queue is full, and no longer."""

import contextlib
import queue
import threading
import time

import pytest


def full(channel, new_request):
    while channel.request_queue_size < channel._queue_size:
        channel.send_request(new_request())


def wait_until_waiting(channel):
    deadline = time.monotonic() + 2
    while not channel._waiting_processors and time.monotonic() < deadline:
        time.sleep(0.001)
    assert channel._waiting_processors, "a waiting processor must count itself in self._waiting_processors"
    time.sleep(0.02)


@pytest.mark.points(6, task=2)
def test_a_full_queue_blocks_a_processor_until_a_request_is_taken(new_channel, new_request, in_thread):
    """The third request of two"""
    channel = new_channel(queue_size=2)
    full(channel, new_request)
    processor = in_thread(lambda: channel._wait_for_room())
    assert not processor.ended(0.1), "two requests are queued and queued.max.requests is 2: there is no room, so wait"
    wait_until_waiting(channel)
    channel.receive_request(0)
    assert processor.ended(2), "a request was taken: there is room, but the processor still waits"
    assert channel._waiting_processors == 0, "no processor waits any more: self._waiting_processors must be 0 again"


@pytest.mark.points(5, task=2)
def test_a_woken_processor_checks_again(new_channel, new_request, in_thread):
    """Woken, but without room"""
    channel = new_channel(queue_size=1)
    full(channel, new_request)
    processor = in_thread(lambda: channel._wait_for_room())
    wait_until_waiting(channel)
    with channel._room:
        channel._room.notify_all()
    assert not processor.ended(0.1), (
        "the processor was woken while the queue was still full (another one may have been faster), "
        "but continued: check again after each wait"
    )
    channel.receive_request(0)
    assert processor.ended(2), "there is room now"


@pytest.mark.points(2, task=2)
def test_two_processors(new_channel, new_request, in_thread):
    """Both wait; then one of them is interrupted"""
    channel = new_channel(queue_size=1)
    full(channel, new_request)
    processors = [in_thread(lambda: channel._wait_for_room()) for _ in range(2)]
    deadline = time.monotonic() + 2
    while channel._waiting_processors != 2 and time.monotonic() < deadline:
        time.sleep(0.001)
    count = channel._waiting_processors
    assert count == 2, f"two processors wait, and each counts: self._waiting_processors is 2, not {count}"
    channel._queue_size = 2
    with channel._room:
        channel._room.notify()
    while not any(processor.ended(0.01) for processor in processors) and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.05)
    count, left = channel._waiting_processors, sum(not processor.ended(0) for processor in processors)
    assert count == left, f"of two, {left} still wait: self._waiting_processors is {left}, not {count}"
    with channel._room:
        channel._room.notify_all()
    assert all(processor.ended(2) for processor in processors), "there is room for both now, and both were notified"
    channel._room = Interrupted()
    channel._queue_size = 1
    with contextlib.suppress(InterruptedError):
        channel._wait_for_room()
    count = channel._waiting_processors
    assert count == 0, f"the wait ended with an exception: whatever ends it, count yourself out (finally); {count} wait"


class Interrupted(threading.Condition):
    """A condition that nobody can wait for."""

    def wait(self, timeout=None):  # noqa: ARG002
        raise InterruptedError


@pytest.mark.points(7, task=2)
def test_a_handler_that_comes_between_check_and_wait(new_channel, new_request, in_thread):
    """No wake-up is lost"""
    channel = new_channel(queue_size=1)
    full(channel, new_request)
    handlers = []

    class Queue(queue.SimpleQueue):
        """A handler takes the only request right after the processor has checked the size."""

        def qsize(self):
            size = super().qsize()
            if size and not handlers:
                handlers.append(in_thread(lambda: channel.receive_request(0)))
                handlers[0].ended(0.1)
            return size

    watched = Queue()
    watched.put(channel._requests.get())
    channel._requests = watched
    processor = in_thread(lambda: channel._wait_for_room())
    assert processor.ended(1.5), (
        "lost wake-up: the processor saw a full queue; then a handler took the request, found "
        "self._waiting_processors at 0 and notified no thread; then the processor went to sleep. "
        "Count yourself in before you check"
    )


@pytest.mark.points(5, task=2)
def test_a_closed_channel_wakes_processors(new_channel, new_request, in_thread):
    """The broker stops while a processor waits"""
    channel = new_channel(queue_size=1)
    full(channel, new_request)
    processor = in_thread(lambda: channel._wait_for_room())
    wait_until_waiting(channel)
    with channel._room:
        channel._closed = True
        channel._room.notify_all()
    assert processor.ended(2), "self._closed is set and no request will be taken any more: stop waiting"
