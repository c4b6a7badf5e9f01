"""Task 3: all requests of one broker, oldest first."""

import pytest


@pytest.mark.points(8, task=3)
def test_oldest_first(new_queues, number_of):
    """Three requests, no response"""
    queues = new_queues().put(1).put(2).put(3)
    cleared = [number_of(request) for request in queues.clear_all("1")]
    assert sorted(cleared) == [1, 2, 3], f"none of the three will get a response, but you returned {cleared}"
    assert cleared == [1, 2, 3], f"oldest first, since their batches are queued again in this order; yours: {cleared}"
    assert queues.clear_all("1") == [], "a second time there is nothing left"
    assert queues.can_send_more("1"), "nothing is in flight any more"


@pytest.mark.points(7, task=3)
def test_only_requests_of_that_broker(new_queues):
    """Another connection stays open"""
    queues = new_queues().put(1, "1").put(2, "2")
    queues.clear_all("1")
    assert queues.count("2") == 1, "only the connection to broker 1 was lost: request 2 still gets its response"
    assert queues.clear_all("9") == [], "nothing was in flight to broker 9: an empty list"
