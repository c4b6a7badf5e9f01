"""Task 2: fewer than allowed, and nothing half sent."""

import pytest


@pytest.mark.points(6, task=2)
def test_how_many(new_queues):
    """max.in.flight.requests.per.connection=2"""
    queues = new_queues(limit=2)
    assert queues.can_send_more("1"), "nothing is under way: send"
    queues.put(1)
    assert queues.can_send_more("1"), "one of two is under way: there is room for another"
    queues.put(2)
    assert not queues.can_send_more("1"), "two of two are under way: a third would be one too many"
    assert queues.can_send_more("2"), "every connection has a limit of its own: broker 2 has nothing under way"
    queues.complete_next("1")
    assert queues.can_send_more("1"), "an answer has come: there is room again"


@pytest.mark.points(8, task=2)
def test_not_behind_one_that_is_half_sent(new_queues):
    """The socket has not taken all of the last request"""
    queues = new_queues(limit=5).put(1).put(2, has_left=False)
    assert not queues.can_send_more("1"), (
        "request 2 has not left completely (send.completed): the channel holds one send at a time, and what waits in "
        "the accumulator can still grow"
    )


@pytest.mark.points(3, task=2)
def test_asking_leaves_no_trace(new_queues):
    """can_send_more for a broker that was never sent to"""
    queues = new_queues()
    queues.can_send_more("7")
    assert not queues._requests, "can_send_more is asked for every broker in every turn: it must not make an entry"


@pytest.mark.points(3, task=2)
def test_counting(new_queues):
    """One broker, all, an unknown one"""
    queues = new_queues().put(1, "1").put(2, "1").put(3, "2")
    assert queues.count("1") == 2, f"two are under way to broker 1, not {queues.count('1')}"
    assert queues.count() == 3, f"three are under way in all, not {queues.count()}"
    assert queues.count("9") == 0, "nothing was ever sent to broker 9: 0"
