"""Task 4: the oldest request decides."""

import math

import pytest

TIMEOUT_MS = 100


@pytest.mark.points(8, task=4)
def test_which_requests_have_timed_out(new_queues):
    """Requests of 0 and 60 ms, checked repeatedly"""
    queues = new_queues().put(1, "1", sent_ms=0).put(2, "1", sent_ms=60).put(3, "2", sent_ms=60)
    late = {now_ms: queues.nodes_with_timed_out_requests(now_ms, TIMEOUT_MS) for now_ms in (99, 100, 161)}
    assert late[99] == [], "99 of 100 ms have passed for the oldest request: nothing has timed out yet"
    assert late[100] == ["1"], (
        f"at 100 ms request 1 has timed out, though 2, to the same broker, has not; you return {late[100]}"
    )
    slow = new_queues().put(1, "1", sent_ms=0, timeout_ms=300)
    late_300 = {now_ms: slow.nodes_with_timed_out_requests(now_ms, TIMEOUT_MS) for now_ms in (299, 300)}
    assert late_300 == {299: [], 300: ["1"]}, (
        f"a request may have a timeout of its own, here 300 ms, which counts, not the default (deadline_ms); {late_300}"
    )
    assert sorted(late[161]) == ["1", "2"], f"at 161 ms requests to both brokers have timed out; you return {late[161]}"


@pytest.mark.points(4, task=4)
def test_a_completed_request_never_times_out(new_queues):
    """The oldest gets its response in time"""
    queues = new_queues().put(1, "1", sent_ms=0).put(2, "1", sent_ms=60)
    queues.complete_next("1")
    assert queues.nodes_with_timed_out_requests(120, TIMEOUT_MS) == [], "request 1 has its response; 2 has 40 ms left"
    queues.complete_next("1")
    assert queues.nodes_with_timed_out_requests(9000, TIMEOUT_MS) == [], (
        "all have their responses: nothing has timed out"
    )


@pytest.mark.points(8, task=4)
def test_how_long_the_client_may_sleep(new_queues):
    """next_timeout_ms"""
    queues = new_queues()
    assert queues.next_timeout_ms(0, TIMEOUT_MS) == math.inf, "nothing is in flight, so nothing can time out: infinity"
    queues.put(1, "1", sent_ms=30).put(2, "2", sent_ms=10).put(3, "1", sent_ms=50)
    left_ms = queues.next_timeout_ms(60, TIMEOUT_MS)
    assert left_ms == 50, f"request 2 of 10 ms times out first, in 50 ms; you return {left_ms}"
    left_ms = queues.next_timeout_ms(500, TIMEOUT_MS)
    assert left_ms == 0, f"it has already timed out: 0, not {left_ms}; for select, a negative timeout means 'for ever'"
    queues = new_queues().put(1, "1", sent_ms=10).put(2, "1", sent_ms=50)
    left_ms = queues.next_timeout_ms(60, TIMEOUT_MS)
    assert left_ms == 50, f"the oldest request of a broker times out first, in 50 ms; you return {left_ms}"
    queues.complete_next("1"), queues.complete_next("1")
    try:
        left_ms = queues.next_timeout_ms(60, TIMEOUT_MS)
    except IndexError as error:
        pytest.fail(f"all requests to broker 1 have their responses, and its queue may be empty: infinity; {error}")
    assert left_ms == math.inf, f"all have their responses, so nothing can time out: infinity, not {left_ms}"
