"""Task 1: responses come in the order of the requests."""

import pytest


@pytest.mark.points(10, task=1)
def test_the_next_response_belongs_to_the_oldest_request(new_queues, number_of):
    """Three requests, three responses"""
    queues = new_queues().put(1).put(2).put(3)
    order = [number_of(queues.complete_next("1")) for _ in range(3)]
    assert order == [1, 2, 3], f"1, 2 and 3 were sent, so the responses belong to 1, 2 and 3; you returned {order}"


@pytest.mark.points(8, task=1)
def test_a_request_without_a_response_is_the_newest(new_queues, number_of):
    """acks=0 behind two others"""
    queues = new_queues().put(1).put(2).put(3)
    last = number_of(queues.last_sent("1"))
    assert last == 3, f"3 was sent last, not {last}"
    assert queues.count("1") == 3, "last_sent only returns it; complete_last_sent removes it"
    done = number_of(queues.complete_last_sent("1"))
    assert done == 3, f"3 has just been sent and expects no response, so 3 is complete; you removed {done}"
    assert number_of(queues.complete_next("1")) == 1, "the next response still belongs to 1"


@pytest.mark.points(6, task=1)
def test_every_broker_has_its_own_queue(new_queues, number_of):
    """Two brokers"""
    queues = new_queues().put(1, "1").put(2, "2").put(3, "1")
    answered = number_of(queues.complete_next("2"))
    assert answered == 2, f"broker 2 has responded, and only request 2 was sent to it; you completed {answered}"


@pytest.mark.points(6, task=1)
def test_an_unexpected_response(new_queues, raises_lookup_error):
    """A broker without requests in flight"""
    queues = new_queues().put(1, "1")
    queues.complete_next("1")
    for node in ("1", "9"):
        for take in (queues.complete_next, queues.last_sent, queues.complete_last_sent):
            assert raises_lookup_error(lambda take=take, node=node: take(node)), (
                f"no request is in flight to broker {node}: {take.__name__} raises LookupError (self._queue does)"
            )
