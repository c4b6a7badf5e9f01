from __future__ import annotations

import threading

from kafka_lite.common.time import MockTime
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, Response, ResponseAction
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from tests.support.patience import patient_s


def request(number: int = 0, processor: int = 0) -> Request:
    header = RequestHeader(api_key=12, api_version=0, correlation_id=number, client_id=None)
    return Request(
        processor=processor,
        connection_id="c",
        listener_name="PLAINTEXT",
        security_protocol="PLAINTEXT",
        client_address="127.0.0.1",
        header=header,
        body=HeartbeatRequest(),
        size_in_bytes=10,
        start_time_ms=1,
    )


def test_requests_leave_the_queue_in_order() -> None:
    channel = RequestChannel(1, 10)
    requests = [request(number) for number in range(3)]
    for each in requests:
        channel.send_request(each)
    assert channel.request_queue_size == 3
    assert [channel.receive_request(0) for _ in range(4)] == [*requests, None]


def test_a_full_queue_blocks_the_processor_until_a_request_is_taken() -> None:
    channel = RequestChannel(1, 2)
    for number in range(2):
        channel.send_request(request(number))
    processor = threading.Thread(target=channel.send_request, args=(request(2),))
    processor.start()
    processor.join(0.05)
    assert processor.is_alive()
    assert channel.request_queue_size == 2
    assert channel.receive_request(0) is not None
    processor.join(patient_s(30))
    assert not processor.is_alive()
    assert channel.request_queue_size == 2


def test_the_bound_holds_under_load_and_no_thread_sleeps_for_ever() -> None:
    bound, processors, each = 3, 3, 2_000
    channel = RequestChannel(processors, bound)
    sizes: list[int] = []

    def process() -> None:
        for number in range(each):
            channel.send_request(request(number))

    def handle() -> None:
        for _ in range(processors * each // 2):
            assert channel.receive_request(30_000) is not None
            sizes.append(channel.request_queue_size)

    threads = [threading.Thread(target=process) for _ in range(processors)]
    threads += [threading.Thread(target=handle) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patient_s(60))
    assert not any(thread.is_alive() for thread in threads)
    assert max(sizes) <= bound + processors - 1


def test_shutdown_releases_a_processor_that_waits_for_room() -> None:
    channel = RequestChannel(1, 1)
    channel.send_request(request(1))
    processor = threading.Thread(target=channel.send_request, args=(request(2),))
    processor.start()
    channel.shutdown()
    processor.join(patient_s(30))
    assert not processor.is_alive()


def test_a_processor_sees_in_its_queue_whether_there_is_a_response() -> None:
    channel = RequestChannel(2, 10)
    queue = channel.response_queue(1)
    channel.send_response(Response(request(1, processor=0)))
    assert not queue
    channel.send_response(Response(request(2, processor=1)))
    assert [response.request.processor for response in queue] == [1]
    channel.receive_responses(1)
    assert not queue
    assert channel.response_queue(0)


def test_responses_go_to_the_processor_of_the_connection_and_wake_it() -> None:
    woken: list[int] = []
    channel = RequestChannel(2, 10)
    channel.add_response_listener(woken.append)
    channel.send_response(Response(request(1, processor=1)))
    channel.no_operation(request(2, processor=0))
    channel.close_connection(request(3, processor=1))
    assert woken == [1, 0, 1]
    assert channel.response_queue_size == 3
    actions = []
    while (response := channel.receive_response(1)) is not None:
        actions.append(response.action)
    assert actions == [ResponseAction.SEND, ResponseAction.CLOSE_CONNECTION]
    assert channel.receive_response(0) is not None


def test_a_handler_can_be_woken_up() -> None:
    channel = RequestChannel(1, 10)
    channel.wake_up_handler()
    assert channel.receive_request() is None


def test_the_phases_of_a_request() -> None:
    each = request()
    each.start_time_ms = 100
    each.request_dequeue_time_ms = 101
    each.api_local_complete_time_ms = 103
    each.api_remote_complete_time_ms = 107
    each.response_complete_time_ms = 115
    each.response_dequeue_time_ms = 131
    times = each.times(end_time_ms=163)
    assert (times.request_queue_ms, times.local_ms, times.remote_ms) == (1, 2, 4)
    assert (times.throttle_ms, times.response_queue_ms, times.response_send_ms) == (8, 16, 32)
    assert times.total_ms == 63


def test_no_phase_is_negative_if_the_response_comes_before_the_handler_returns() -> None:
    each = request()
    each.start_time_ms = 100
    each.request_dequeue_time_ms = 101
    each.response_complete_time_ms = 102
    each.api_local_complete_time_ms = 105
    each.response_dequeue_time_ms = 103
    times = each.times(end_time_ms=104)
    assert (times.local_ms, times.remote_ms, times.throttle_ms, times.response_queue_ms) == (4, 0, 0, 1)


def test_completion_listeners_get_the_times() -> None:
    time = MockTime()
    channel = RequestChannel(1, 10, time)
    heard: list[float] = []
    channel.add_completion_listener(lambda request, end_ms: heard.append(request.times(end_ms).total_ms))
    each = request()
    time.sleep(50)
    channel.request_completed(each)
    assert heard == [49]
