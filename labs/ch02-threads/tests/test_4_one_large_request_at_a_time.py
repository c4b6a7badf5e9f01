"""Task 4: two threads that compute are no faster than one, but need twice the memory."""

from collections import deque

import pytest

from kafka_learn.labs.locks import TracedLock
from kafka_lite.network.large_requests import LargeRequests


@pytest.mark.points(8, task=4)
def test_one_after_the_other(new_request):
    """Three requests, and others that are completed"""
    queued = []
    large = LargeRequests(queued.append)
    first, second, third, small = [new_request(number) for number in range(4)]
    for request in (first, second, third):
        large.send(request)
    assert queued == [first], f"one is let in, the others wait; yours: {len(queued)} are in the request queue"
    assert len(large) == 2, f"two wait; yours: {len(large)}"
    large.completed(small)
    large.completed(second)
    assert queued == [first], "neither a small request nor one that waits makes room: only the one in progress does"
    large.completed(first)
    assert queued == [first, second], f"the next is let in, the one that came first; yours: {len(queued)} were queued"
    assert second in large and first not in large, "the second is in progress, the first no longer"  # noqa: PT018
    large.completed(first)
    assert queued == [first, second], "the first is completed once more, and is not in progress: nothing happens"
    large.completed(second)
    large.completed(third)
    assert queued == [first, second, third], "then the third"
    large.send(first)
    assert queued[-1] is first, "all are done: the next one is let in at once"


@pytest.mark.points(5, task=4)
def test_two_at_once(new_request):
    """at_once=2"""
    queued = []
    large = LargeRequests(queued.append, at_once=2)
    requests = [new_request(number) for number in range(4)]
    for request in requests:
        large.send(request)
    assert queued == requests[:2], f"two are let in; yours: {len(queued)}"
    large.completed(requests[1])
    assert queued == requests[:3], f"one of the two is done: one is let in; yours: {len(queued)} were queued"


@pytest.mark.points(7, task=4)
def test_the_lock(new_request):
    """Held where the requests are counted and moved; not held where they are queued"""
    held, while_queued = [], []
    large = LargeRequests(lambda _request: while_queued.append(large._lock.is_held()))
    lock = large._lock = TracedLock(large._lock)

    def note(what):
        if not lock.is_held():
            held.append(what)

    class Progress(set):
        def __len__(self):
            note("the requests in progress are counted")
            return super().__len__()

        def add(self, request):
            note("a request is let in")
            super().add(request)

        def discard(self, request):
            note("a request is completed")
            super().discard(request)

        remove = discard

    class Waiting(deque):
        def __bool__(self):
            note("the waiting ones are looked at")
            return super().__len__() > 0

        def append(self, request):
            note("a request begins to wait")
            super().append(request)

        def popleft(self):
            note("a request ends its waiting")
            return super().popleft()

    large._in_progress, large._waiting = Progress(), Waiting()
    requests = [new_request(number) for number in range(3)]
    for request in requests:
        large.send(request)
    for request in requests:
        large.completed(request)
    assert held == [], f"{held[0]} without self._lock, while another thread may do the same"
    assert while_queued == [False] * 3, (
        "the lock is held while a request is queued: whoever waits for the lock waits for the queue, too; yours: "
        f"{while_queued}"
    )
