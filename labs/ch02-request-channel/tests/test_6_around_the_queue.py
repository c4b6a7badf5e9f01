"""Task 6: a quick request need not be queued."""

import pytest


@pytest.mark.points(3, task=6)
def test_without_a_quick_handler_every_request_is_queued(new_channel, new_request):
    """As in Kafka"""
    channel = new_channel()
    channel.dispatch(new_request())
    assert channel.request_queue_size == 1, "there is no quick handler: the request must be queued"
    queued = []
    channel.send_request = queued.append
    channel.dispatch(new_request())
    assert len(queued) == 1, "the queue has a bound for these requests, too: queue with send_request"


@pytest.mark.points(3, task=6)
def test_a_request_done_by_the_quick_handler_is_not_queued(new_channel, new_request):
    """Handled at once"""
    channel = new_channel()
    request, handled = new_request(), []
    channel.quick_handler = lambda given: handled.append(given)
    channel.dispatch(request)
    assert handled == [request], f"the quick handler must be called once, with the request, not with {handled}"
    assert channel.request_queue_size == 0, "the quick handler left nothing to do, but the request was queued anyway"


@pytest.mark.points(4, task=6)
def test_a_request_that_the_quick_handler_returns_is_queued(new_channel, new_request):
    """The second of two pipelined requests is not quick"""
    channel = new_channel()
    first, second = new_request(1), new_request(2)
    channel.quick_handler = lambda _given: second
    channel.dispatch(first)
    queued = channel.receive_request(0)
    assert queued is second, "the quick handler returns what is left: queue that, not the request that is already done"
