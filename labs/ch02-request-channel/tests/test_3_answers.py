"""Task 3: a response goes to the processor that owns the connection."""

from collections import deque

import pytest

from kafka_lite.network.request_channel import Response, ResponseAction
from kafka_lite.network.send import NetworkSend


def answer(request):
    return Response(request, NetworkSend(request.connection_id, [b"answer"]))


@pytest.mark.points(4, task=3)
def test_a_response_goes_to_the_processor_of_its_connection(new_channel, new_request):
    """Three processors, one owns the connection"""
    channel = new_channel(num_processors=3)
    response = answer(new_request(processor=2))
    channel.send_response(response)
    sizes = [channel.response_queue_size_of(processor) for processor in range(3)]
    assert sizes == [0, 0, 1], f"the connection belongs to processor 2; the sizes of the response queues are {sizes}"
    assert channel.receive_responses(0) == [], "processor 0 has no response to send"
    assert channel.receive_responses(2) == [response], "processor 2 must find the response in its queue"


@pytest.mark.points(4, task=3)
def test_the_response_is_queued_before_the_wake_up(new_channel, new_request):
    """Put first, then wake up"""
    channel = new_channel(num_processors=2)
    seen = []
    for _ in range(2):
        channel.add_response_listener(lambda processor: seen.append((processor, channel.response_queue_size_of(1))))
    channel.send_response(answer(new_request(processor=1)))
    assert len(seen) in (0, 2), "there are two response listeners, and each of them is called"
    assert seen, "no processor was woken: every response listener must be called with the number of the processor"
    processor, size = seen[0]
    assert processor == 1, f"the response is for processor 1, but you woke processor {processor}"
    assert size == 1, "woken too early: the processor finds no response and sleeps again. Put first, then wake up"


@pytest.mark.points(4, task=3)
def test_all_responses_are_taken_in_order(new_channel, new_request, mock_time):
    """Three responses at once"""
    channel = new_channel()
    responses = [answer(new_request(number)) for number in (1, 2, 3)]
    for response in responses:
        channel.send_response(response)
    mock_time.sleep(7)
    taken = channel.receive_responses(0)
    assert taken == responses, f"three responses are queued, but you took {len(taken)} (take all of them, in order)"
    assert channel.receive_responses(0) == [], "responses that were taken must not stay in the queue"
    dequeued = {response.request.response_dequeue_time_ms for response in taken}
    assert dequeued == {1007.0}, f"response_dequeue_time_ms is the time of the take, 1007 ms; yours: {dequeued}"
    marked = answer(new_request(4))
    marked.request.response_dequeue_time_ms = 0.0
    channel.send_response(marked)
    channel.receive_responses(0)
    mark = marked.request.response_dequeue_time_ms
    assert mark == 0.0, (
        f"response_dequeue_time_ms was 0, which is a time: only below 0 it is unset; you set it to {mark}"
    )
    late = answer(new_request(4))
    channel._responses[0] = Busy(responses, late)
    taken = channel.receive_responses(0) + channel.receive_responses(0)
    assert taken == [*responses, late], "another thread appends while you take: take what is there, and lose nothing"


class Busy(deque):
    """A queue of responses, to which another thread appends while they are taken."""

    def __init__(self, responses, late):
        super().__init__(responses)
        self.late = [late]

    def _meanwhile(self):
        if self.late:
            super().append(self.late.pop())

    def __iter__(self):
        yield from [self[place] for place in range(len(self))]
        self._meanwhile()

    def popleft(self):
        taken = super().popleft()
        self._meanwhile()
        return taken

    def clear(self):
        self._meanwhile()
        super().clear()


@pytest.mark.points(3, task=3)
def test_what_is_recorded_on_the_request(new_channel, new_request, mock_time):
    """The time of the response, and whether the following request may begin"""
    channel = new_channel()
    first, second = new_request(1), new_request(2)
    mock_time.sleep(5)
    channel._responses[0] = Noting()
    channel.send_response(answer(first))
    assert channel._responses[0].noted == [(1005.0, True)], (
        "record both on the request before you put the response: a processor may take it at once; when it was put, "
        f"time and following_may_begin were {channel._responses[0].noted}"
    )
    channel.send_response(Response(second, action=ResponseAction.CLOSE_CONNECTION))
    completed = first.response_complete_time_ms
    assert completed == 1005.0, f"response_complete_time_ms is the time of send_response, 1005 ms, not {completed}"
    assert first.following_may_begin, "a small response was sent: response.lets_following_begin is true"
    assert not second.following_may_begin, "the connection ends: response.lets_following_begin is false"


class Noting(deque):
    """A queue of responses that notes what their requests say when they are put."""

    def __init__(self):
        super().__init__()
        self.noted = []

    def append(self, response):
        self.noted.append((response.request.response_complete_time_ms, response.request.following_may_begin))
        super().append(response)
