"""Task 4: the oldest decides."""

import math

import pytest

TIMEOUT_MS = 100


@pytest.mark.points(8, task=4)
def test_who_is_late(new_queues):
    """Requests of 0 and 60 ms, looked at again and again"""
    queues = new_queues().put(1, "1", sent_ms=0).put(2, "1", sent_ms=60).put(3, "2", sent_ms=60)
    late = {now_ms: queues.nodes_with_timed_out_requests(now_ms, TIMEOUT_MS) for now_ms in (99, 100, 161)}
    assert late[99] == [], "99 of 100 ms have passed for the oldest request: nobody is late yet"
    assert late[100] == ["1"], f"at 100 ms request 1 is late, though 2, to the same broker, is not; you say {late[100]}"
    assert sorted(late[161]) == ["1", "2"], f"at 161 ms both brokers owe an answer for too long; you say {late[161]}"


@pytest.mark.points(4, task=4)
def test_an_answered_request_is_never_late(new_queues):
    """The oldest is answered in time"""
    queues = new_queues().put(1, "1", sent_ms=0).put(2, "1", sent_ms=60)
    queues.complete_next("1")
    assert queues.nodes_with_timed_out_requests(120, TIMEOUT_MS) == [], "request 1 was answered; 2 has 40 ms left"
    queues.complete_next("1")
    assert queues.nodes_with_timed_out_requests(9000, TIMEOUT_MS) == [], "all were answered: nobody is late"


@pytest.mark.points(8, task=4)
def test_how_long_one_may_sleep(new_queues):
    """next_timeout_ms"""
    queues = new_queues()
    assert queues.next_timeout_ms(0, TIMEOUT_MS) == math.inf, "nothing is under way, nothing can be late: infinity"
    queues.put(1, "1", sent_ms=30).put(2, "2", sent_ms=10).put(3, "1", sent_ms=50)
    left_ms = queues.next_timeout_ms(60, TIMEOUT_MS)
    assert left_ms == 50, f"request 2 of 10 ms is the first to be late, in 50 ms; you say {left_ms}"
    left_ms = queues.next_timeout_ms(500, TIMEOUT_MS)
    assert left_ms == 0, f"it is late already: 0, not {left_ms}; select takes a negative timeout for 'for ever'"
