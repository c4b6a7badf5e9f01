"""Task 2: fewer than the limit, and none half sent."""

import pytest


@pytest.mark.points(6, task=2)
def test_the_limit(new_queues):
    """max.in.flight.requests.per.connection=2"""
    queues = new_queues(limit=2)
    assert queues.can_send_more("1"), "nothing is in flight: send"
    queues.put(1)
    assert queues.can_send_more("1"), "one of two is in flight: one more is allowed"
    queues.put(2)
    assert not queues.can_send_more("1"), "two of two are in flight: a third would exceed the limit"
    assert queues.can_send_more("2"), "every connection has its own limit: nothing is in flight to broker 2"
    queues.complete_next("1")
    assert queues.can_send_more("1"), "a response has arrived: one more is allowed again"
    queues.put(3, "2").put(4, "2")
    assert queues.can_send_more("1"), (
        "two of two are in flight to broker 2, but only one to broker 1: each has its own limit"
    )


@pytest.mark.points(8, task=2)
def test_not_behind_a_half_sent_request(new_queues):
    """The socket has not accepted all of the last request"""
    queues = new_queues(limit=5).put(1).put(2, has_left=False)
    assert not queues.can_send_more("1"), (
        "request 2 has not been sent completely (send.completed): the channel holds one send at a "
        "time, and batches in the accumulator can still grow"
    )


@pytest.mark.points(3, task=2)
def test_checking_changes_nothing(new_queues):
    """can_send_more for a broker without requests"""
    queues = new_queues()
    queues.can_send_more("7")
    assert not queues._requests, "can_send_more is called for every broker in every turn: it must not create an entry"


@pytest.mark.points(3, task=2)
def test_counting(new_queues):
    """One broker, all, an unknown one"""
    queues = new_queues().put(1, "1").put(2, "1").put(3, "2")
    assert queues.count("1") == 2, f"two are in flight to broker 1, not {queues.count('1')}"
    assert queues.count() == 3, f"three are in flight in all, not {queues.count()}"
    assert queues.count("9") == 0, "nothing was ever sent to broker 9: 0"
