"""Task 2: one request, in whatever thread."""

import pytest

from kafka_lite.network.request_channel import ResponseAction
from kafka_lite.server.kafka_request_handler import KafkaRequestHandler


def handler_of(inside):
    return KafkaRequestHandler(0, inside.channel, inside.apis, inside.time)


@pytest.mark.points(5, task=2)
def test_its_times(inside):
    """A request that waited 5 ms and took 7; one whose response comes later; one whose apis say when"""
    (request,) = inside.chain(1)
    start_ms = request.start_time_ms
    inside.time.sleep(5)
    inside.apis.takes_ms = 7
    assert handler_of(inside).handle(request) is None, "no request follows: return None"
    assert inside.apis.handled == [1], f"self._apis handles the request, once; yours: {inside.apis.handled}"
    got = (request.request_dequeue_time_ms - start_ms, request.api_local_complete_time_ms - start_ms)
    assert got == (5, 12), f"dequeued 5 ms after its start, done locally 12 ms after it; yours: {got}"
    (later,) = inside.chain(2)
    inside.apis.instead[2] = lambda _request: inside.time.sleep(3)
    handler_of(inside).handle(later)
    got = later.api_local_complete_time_ms - later.start_time_ms
    assert got == 10, f"no response yet, so its local time ends when the apis return, after 10 ms; yours: {got}"

    def respond_and_stay(request):
        inside.channel.no_operation(request)
        inside.time.sleep(40)

    (early,) = inside.chain(3)
    inside.apis.instead[3] = respond_and_stay
    handler_of(inside).handle(early)
    got = early.api_local_complete_time_ms - early.start_time_ms
    assert got == 7, f"it had its response after 7 ms: what the apis do afterwards does not count; yours: {got}"
    (first,) = inside.chain(5)
    inside.apis.instead[5] = lambda request: setattr(request, "response_complete_time_ms", 0.0)
    handler_of(inside).handle(first)
    assert first.api_local_complete_time_ms == 0.0, "a response at 0 is one, too: negative means that there is none"
    for said in (0.0, 5.0):
        (told,) = inside.chain(4)
        inside.apis.instead[4] = lambda request, said=said: setattr(request, "api_local_complete_time_ms", said)
        handler_of(inside).handle(told)
        assert told.api_local_complete_time_ms == said, f"the apis have said {said}: leave it"


@pytest.mark.points(5, task=2)
def test_an_error_of_ours(inside):
    """The apis raise"""

    def fail(_request):
        raise ValueError("a bug")

    first, second = inside.chain(1, 2)
    inside.apis.instead[1] = fail
    try:
        left = handler_of(inside).handle(first)
    except ValueError:
        pytest.fail("an error of ours must not leave this thread: it serves everybody")
    responses = inside.channel.receive_responses(0)
    actions = [(each.request, each.action) for each in responses]
    assert actions == [(first, ResponseAction.CLOSE_CONNECTION)], (
        f"its client learns of the error because its connection is closed, once; yours: {actions}"
    )
    assert left is None, "the connection is closed: the request behind must not begin"
    assert second.following_may_begin is False
    assert first.api_local_complete_time_ms >= 0, "its local time has ended, too"

    def stop(_request):
        raise SystemExit

    (last,) = inside.chain(3)
    inside.apis.instead[3] = stop
    with pytest.raises(SystemExit):
        pytest.fail(
            f"SystemExit is no Exception: somebody ends this thread; you return {handler_of(inside).handle(last)}"
        )


@pytest.mark.points(5, task=2)
def test_the_one_behind_it(inside):
    """A pipelined request: its turn, not yet, and somebody else was first"""
    first, second = inside.chain(1, 2)
    left = handler_of(inside).handle(first)
    assert left is second, (
        f"the first has its response: the next one is yours, without another hand-over; yours: {left}"
    )
    first, second = inside.chain(3, 4)
    inside.apis.instead[3] = lambda _request: None
    assert handler_of(inside).handle(first) is None, "the first has no response yet: the next one must wait for it"
    assert first.take_following() is second, "and it must not be taken: whoever sends the response takes it"
    first, second = inside.chain(5, 6)
    first.take_following()
    assert handler_of(inside).handle(first) is None, "the processor has taken the next one: not twice (take_following)"
