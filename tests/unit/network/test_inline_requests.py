"""Network threads handle quick requests themselves, and hand the others over."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from types import SimpleNamespace

import pytest

from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.network.acceptor import Listener
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.network.processor import Processor
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.socket_server import SocketServer, SocketServerConfig
from kafka_lite.network.unserved_requests import UnservedRequests
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.quick_requests import InlineRequestHandler
from tests.support.network import (
    LOOPBACK,
    connect,
    echo_correlation_id,
    is_closed,
    needs_plain_package,
    read_correlation_id,
    read_exactly,
    read_frame,
    request_frame,
    respond,
    running_server,
)
from tests.support.patience import patient_s


def even_is_quick(request: Request) -> bool:
    return request.header.correlation_id % 2 == 0


def test_quick_requests_are_handled_by_the_network_thread_and_others_by_a_handler() -> None:
    threads: dict[int, str] = {}

    def handle(request: Request, channel: RequestChannel) -> None:
        threads[request.header.correlation_id] = threading.current_thread().name
        echo_correlation_id(request, channel)

    with running_server(handle, is_quick=even_is_quick) as server, connect(server) as client:
        for number in (2, 3):
            client.sendall(request_frame(number))
            assert read_correlation_id(client) == number
    assert threads[2] == "kafka-network-thread-0-PLAINTEXT-0"
    assert threads[3].startswith("kafka-request-handler-")


def test_a_request_that_waits_does_not_delay_quick_requests_of_other_connections() -> None:
    go_on = threading.Event()

    def handle(request: Request, channel: RequestChannel) -> None:
        if not even_is_quick(request):
            assert go_on.wait(patient_s(30))
        echo_correlation_id(request, channel)

    with running_server(handle, is_quick=even_is_quick) as server, connect(server) as slow, connect(server) as quick:
        slow.sendall(request_frame(1) + request_frame(2))
        for number in range(0, 40, 2):
            quick.sendall(request_frame(number))
            assert read_correlation_id(quick) == number
        go_on.set()
        assert [read_correlation_id(slow) for _ in range(2)] == [1, 2]


def test_responses_of_a_pipeline_keep_the_order_of_its_requests() -> None:
    """Quick requests, handed-over ones and ones with a response from another thread: one at a time, in order."""
    at_work = threading.Semaphore(1)
    order: list[int] = []

    def answer(request: Request, channel: RequestChannel) -> None:
        at_work.release()
        echo_correlation_id(request, channel)

    def handle(request: Request, channel: RequestChannel) -> None:
        number = request.header.correlation_id
        assert at_work.acquire(blocking=False), "two requests of a connection at once"
        order.append(number)
        if number % 5 == 0:
            threading.Thread(target=answer, args=(request, channel)).start()
        else:
            answer(request, channel)

    def is_quick(request: Request) -> bool:
        return request.header.correlation_id % 7 != 0

    with running_server(handle, io_threads=3, is_quick=is_quick) as server, connect(server) as client:
        client.sendall(b"".join(request_frame(number) for number in range(500)))
        assert [read_correlation_id(client) for _ in range(500)] == list(range(500))
    assert order == list(range(500))


def test_a_response_to_another_connection_is_written_while_a_request_is_handled() -> None:
    """As when an append completes the delayed fetch of a follower. The request behind that one begins afterwards."""
    held: list[Request] = []
    arrived, was_read = threading.Event(), threading.Event()
    steps: list[object] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        number = request.header.correlation_id
        steps.append(number)
        if number == 1:
            held.append(request)
            arrived.set()
            return
        if number == 2:
            echo_correlation_id(held.pop(), channel)
            steps.append(was_read.wait(patient_s(30)))
        echo_correlation_id(request, channel)

    with running_server(handle, is_quick=lambda _: True) as server, connect(server) as first, connect(server) as second:
        first.sendall(request_frame(1) + request_frame(3))
        assert arrived.wait(patient_s(30))
        second.sendall(request_frame(2))
        assert read_correlation_id(first) == 1
        was_read.set()
        assert read_correlation_id(second) == 2
        assert read_correlation_id(first) == 3
    assert steps == [1, 2, True, 3]


def test_a_large_response_to_another_connection_is_completed_later() -> None:
    """Only a part of it fits into the socket while the other request is handled."""
    held: list[Request] = []
    arrived = threading.Event()
    content = bytes(range(256)) * 40_000

    def handle(request: Request, channel: RequestChannel) -> None:
        number = request.header.correlation_id
        if number == 1:
            held.append(request)
            arrived.set()
            return
        if number == 2:
            respond(held.pop(), channel, [content])
        echo_correlation_id(request, channel)

    with running_server(handle, is_quick=lambda _: True) as server, connect(server) as first, connect(server) as second:
        first.sendall(request_frame(1) + request_frame(3))
        assert arrived.wait(patient_s(30))
        second.sendall(request_frame(2))
        assert read_correlation_id(second) == 2
        assert read_frame(first) == content
        assert read_correlation_id(first) == 3


def test_a_request_that_closes_another_connection() -> None:
    held: list[Request] = []
    arrived = threading.Event()

    def handle(request: Request, channel: RequestChannel) -> None:
        if request.header.correlation_id == 1:
            held.append(request)
            arrived.set()
            return
        channel.close_connection(held.pop())
        echo_correlation_id(request, channel)

    with running_server(handle, is_quick=lambda _: True) as server, connect(server) as first, connect(server) as second:
        first.sendall(request_frame(1))
        assert arrived.wait(patient_s(30))
        second.sendall(request_frame(2))
        assert read_correlation_id(second) == 2
        assert is_closed(first)


def test_an_error_in_a_quick_handler_closes_its_connection_only(caplog: pytest.LogCaptureFixture) -> None:
    def handle(request: Request, channel: RequestChannel) -> None:
        if request.header.correlation_id == 13:
            raise ZeroDivisionError
        echo_correlation_id(request, channel)

    with running_server(handle, is_quick=lambda _: True) as server, connect(server) as bad, connect(server) as good:
        bad.sendall(request_frame(1) + request_frame(13) + request_frame(2))
        assert read_correlation_id(bad) == 1
        assert is_closed(bad)
        good.sendall(request_frame(14))
        assert read_correlation_id(good) == 14
    assert "Error when handling a request" in caplog.text


def test_requests_without_a_response_between_others() -> None:
    def handle(request: Request, channel: RequestChannel) -> None:
        if request.header.correlation_id % 3 == 0:
            channel.no_operation(request)
        else:
            echo_correlation_id(request, channel)

    with running_server(handle, is_quick=lambda _: True) as server, connect(server) as client:
        client.sendall(b"".join(request_frame(number) for number in range(100)))
        answered = [number for number in range(100) if number % 3]
        assert [read_correlation_id(client) for _ in answered] == answered


def test_nothing_is_read_from_a_client_that_does_not_read_its_responses() -> None:
    handled: list[int] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        handled.append(request.header.correlation_id)
        respond(request, channel, [bytes(5_000_000)])

    with running_server(handle, is_quick=lambda _: True) as server, connect(server) as deaf, connect(server) as quick:
        deaf.settimeout(0.3)
        with pytest.raises(TimeoutError):
            deaf.sendall(request_frame(1) * 2_000_000)
        assert len(handled) <= 2
        quick.sendall(request_frame(7))
        assert len(read_frame(quick)) == 5_000_000


def test_the_times_of_a_quick_request_are_complete() -> None:
    ended: list[tuple[Request, float]] = []
    arrived = threading.Event()

    def on_completion(request: Request, end_time_ms: float) -> None:
        ended.append((request, end_time_ms))
        arrived.set()

    with running_server(is_quick=lambda _: True) as server, connect(server) as client:
        server.request_channel.add_completion_listener(on_completion)
        client.sendall(request_frame(1))
        assert read_correlation_id(client) == 1
        assert arrived.wait(patient_s(30))
    ((request, end_time_ms),) = ended
    marks = [request.start_time_ms, request.request_dequeue_time_ms, request.response_complete_time_ms]
    marks += [request.response_dequeue_time_ms, end_time_ms]
    assert marks[0] > 0
    assert marks == sorted(marks)


def test_without_a_quick_handler_requests_go_through_the_queue() -> None:
    with running_server(is_quick=lambda _: True) as server, connect(server) as client:
        client.sendall(request_frame(1))
        assert read_correlation_id(client) == 1
        server.request_channel.quick_handler = None
        client.sendall(request_frame(2))
        assert read_correlation_id(client) == 2


def test_shutdown_waits_for_the_request_that_a_network_thread_handles() -> None:
    arrived, go_on = threading.Event(), threading.Event()

    def handle(request: Request, channel: RequestChannel) -> None:
        arrived.set()
        assert go_on.wait(patient_s(30))
        echo_correlation_id(request, channel)

    server = SocketServer(SocketServerConfig(listeners=(Listener(LOOPBACK),), num_network_threads=1))
    apis = SimpleNamespace(handle=lambda request: handle(request, server.request_channel))
    inline = InlineRequestHandler(server.request_channel, apis, lambda _: True)
    server.startup()
    with connect(server) as client:
        client.sendall(request_frame(1))
        assert arrived.wait(patient_s(30))
        end = threading.Thread(target=inline.shutdown)
        end.start()
        end.join(0.05)
        assert end.is_alive()
        go_on.set()
        end.join(patient_s(30))
        assert not end.is_alive()
        assert read_correlation_id(client) == 1
    server.shutdown()


def test_a_request_that_comes_during_the_shutdown_is_queued() -> None:
    """The network thread has read ``quick_handler`` already, and calls it after the shutdown."""
    channel = RequestChannel(1, 10)
    header = RequestHeader(api_key=12, api_version=0, correlation_id=1, client_id=None)
    request = Request(0, "connection", "PLAINTEXT", "PLAINTEXT", LOOPBACK, header, HeartbeatRequest(), 1, 0)
    inline = InlineRequestHandler(channel, SimpleNamespace(handle=pytest.fail), lambda _: True)
    quick_handler = channel.quick_handler
    assert quick_handler is not None
    inline.shutdown()
    assert quick_handler(request) is request
    channel.dispatch(request)
    assert channel.request_queue_size == 1


@needs_plain_package
def test_a_response_right_after_the_previous_one_was_sent(caplog: pytest.LogCaptureFixture) -> None:
    """The next response can arrive between the poll that wrote the rest of one and the step that completes it."""
    channel = RequestChannel(1, 100)
    quotas = ConnectionQuotas(10, {})
    processor = Processor(
        0, "processor", "PLAINTEXT", "PLAINTEXT", SYSTEM_TIME, 1 << 20, -1, channel, quotas, UnservedRequests()
    )
    with socket.create_server((LOOPBACK, 0)) as acceptor:
        clients, accepted = [], []
        for port in (1, 2):
            clients.append(socket.create_connection(acceptor.getsockname(), timeout=patient_s(30)))
            accepted.append(acceptor.accept()[0])
            accepted[-1].setblocking(False)
            quotas.inc(LOOPBACK)
            processor.accept(accepted[-1], LOOPBACK, port)
    pipelining, other = clients
    pipelining.sendall(request_frame(1) + request_frame(2))
    processor.do_work()
    first = channel.receive_request(30_000)
    assert first is not None
    junk = fill(accepted[0])
    echo_correlation_id(first, channel)
    second = first.take_following()
    assert second is not None
    processor.do_work()  # the first response does not fit into the socket
    assert read_exactly(pipelining, junk) == bytes(junk)
    other.sendall(request_frame(3))
    wait_for(accepted[0], selectors.EVENT_WRITE)
    wait_for(accepted[1], selectors.EVENT_READ)
    poll = processor._selector.poll

    def poll_and_respond(timeout_ms: float) -> None:
        poll(timeout_ms)
        assert len(processor._selector.completed_sends) == len(processor._selector.completed_receives) == 1
        echo_correlation_id(second, channel)

    processor._selector.poll = poll_and_respond  # type: ignore[method-assign]
    processor.do_work()
    processor._selector.poll = poll  # type: ignore[method-assign]
    assert "uncaught exception" not in caplog.text
    assert [read_correlation_id(pipelining) for _ in range(2)] == [1, 2]
    pipelining.sendall(request_frame(4))
    processor.do_work()
    received = [channel.receive_request(30_000) for _ in range(2)]
    assert [request.header.correlation_id for request in received if request is not None] == [3, 4]
    for client in clients:
        client.close()
    processor.close_all()
    assert quotas.get(LOOPBACK) == 0


def fill(sock: socket.socket) -> int:
    """Send zeros until the socket takes no more; returns how many."""
    count = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            count += sock.send(bytes(1 << 16))
    return count


def wait_for(sock: socket.socket, event: int) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(sock, event)
        assert selector.select(30)
