"""The socket server over real sockets, with handlers of the tests."""

from __future__ import annotations

import errno
import logging
import os
import socket
import struct
import threading
from typing import Any

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.network import processor as processor_module
from kafka_lite.network.acceptor import Acceptor, Listener, unmapped
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import SMALL_RESPONSE_BYTES, RequestChannel
from kafka_lite.network.socket_server import SocketServer, SocketServerConfig
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.testing.shifted_time import ShiftedTime
from tests.support.eventually import eventually
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


def test_a_request_gets_a_response() -> None:
    with running_server() as server, connect(server) as client:
        client.sendall(request_frame(7))
        assert read_correlation_id(client) == 7


def test_a_handler_sees_header_body_and_client_of_a_request() -> None:
    seen: list[Request] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        seen.append(request)
        echo_correlation_id(request, channel)

    with running_server(handle) as server, connect(server) as client:
        frame = request_frame(7, client_id="me")
        client.sendall(frame)
        read_frame(client)
        (request,) = seen
        assert request.client_address == LOOPBACK
        assert request.connection_id.endswith(f"-{LOOPBACK}:{client.getsockname()[1]}-0")
        assert (request.listener_name, request.security_protocol) == ("PLAINTEXT", "PLAINTEXT")
        assert (request.header.client_id, request.header.correlation_id) == ("me", 7)
        assert request.body.group_id == "g"  # type: ignore[attr-defined]
        assert request.size_in_bytes == len(frame) - 4


def test_many_clients_are_served_side_by_side() -> None:
    with running_server(num_network_threads=3, io_threads=4) as server:
        clients = [connect(server) for _ in range(60)]
        for turn in range(3):
            for number, client in enumerate(clients):
                client.sendall(request_frame(1000 * turn + number))
            assert [read_correlation_id(client) for client in clients] == [1000 * turn + n for n in range(60)]
        assert server.connection_count(LOOPBACK) == 60
        for client in clients:
            client.close()


def test_pipelined_requests_are_handled_one_at_a_time_with_responses_in_order() -> None:
    at_work = threading.Semaphore(1)

    def handle(request: Request, channel: RequestChannel) -> None:
        assert at_work.acquire(blocking=False), "two requests of a connection at once"
        at_work.release()
        echo_correlation_id(request, channel)

    with running_server(handle, io_threads=4) as server, connect(server) as client:
        client.sendall(b"".join(request_frame(number) for number in range(300)))
        assert [read_correlation_id(client) for _ in range(300)] == list(range(300))


def test_a_frame_that_comes_byte_by_byte() -> None:
    with running_server() as server, connect(server) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request_frame(7):
            client.sendall(bytes([byte]))
        assert read_correlation_id(client) == 7


def test_a_request_without_a_response_lets_the_next_one_begin() -> None:
    def handle(request: Request, channel: RequestChannel) -> None:
        if request.header.correlation_id % 2:
            channel.no_operation(request)
        else:
            echo_correlation_id(request, channel)

    with running_server(handle) as server, connect(server) as client:
        client.sendall(b"".join(request_frame(number) for number in range(9)))
        assert [read_correlation_id(client) for _ in range(5)] == [0, 2, 4, 6, 8]


def test_a_handler_may_close_the_connection() -> None:
    with running_server(lambda request, channel: channel.close_connection(request)) as server:
        with connect(server) as client:
            client.sendall(request_frame(1))
            assert is_closed(client)
        with connect(server) as client:
            client.sendall(request_frame(2))
            assert is_closed(client)


def test_an_error_in_a_handler_closes_the_connection_and_spares_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    def handle(request: Request, channel: RequestChannel) -> None:
        if request.header.correlation_id == 13:
            raise ZeroDivisionError
        echo_correlation_id(request, channel)

    with running_server(handle, io_threads=1) as server:
        with connect(server) as client:
            client.sendall(request_frame(13))
            assert is_closed(client)
        with connect(server) as client:
            client.sendall(request_frame(14))
            assert read_correlation_id(client) == 14
    assert "Error when handling a request" in caplog.text


BAD_FRAMES = {
    "negative size": struct.pack(">i", -1),
    "2 GiB": struct.pack(">i", 2**31 - 1),
    "larger than the limit": struct.pack(">i", 100_001),
    "empty": struct.pack(">i", 0),
    "a piece of a header": struct.pack(">ih", 2, 3),
    "unknown API": struct.pack(">ihhih", 10, 999, 0, 1, -1),
    "unknown version": struct.pack(">ihhih", 10, 3, 99, 1, -1),
    "negative version": struct.pack(">ihhih", 10, 3, -5, 1, -1),
    "body too short": request_frame(1)[:3] + bytes([request_frame(1)[3] - 1]) + request_frame(1)[4:-1],
    "string longer than the frame": struct.pack(">ihhih", 10, 12, 0, 1, 32_000),
    "HTTP": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.mark.parametrize("frame", BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
def test_a_bad_frame_closes_its_connection_and_logs_one_line(frame: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with running_server(socket_request_max_bytes=100_000) as server:
        with connect(server) as good, connect(server) as bad, caplog.at_level(logging.INFO, "kafka_lite.network"):
            caplog.clear()
            bad.sendall(frame)
            assert is_closed(bad)
            good.sendall(request_frame(7))
            assert read_correlation_id(good) == 7
            lines = [record for record in caplog.records if record.levelno >= logging.WARNING]
        (line,) = lines
        assert line.exc_info is None
        assert LOOPBACK in line.getMessage()


@pytest.mark.parametrize("version", [5, 99, 32_767])
def test_api_versions_of_an_unknown_version_reaches_the_handler(version: int) -> None:
    def handle(request: Request, channel: RequestChannel) -> None:
        assert request.unsupported_api_version
        assert isinstance(request.body, ApiVersionsRequest)
        assert request.header.api_version == version
        echo_correlation_id(request, channel)

    frame = bytearray(encode_request(ApiVersionsRequest(), 3, 7, "future"))
    frame[2:4] = struct.pack(">h", version)
    with running_server(handle) as server, connect(server) as client:
        client.sendall(struct.pack(">i", len(frame)) + frame)
        assert read_correlation_id(client) == 7


def test_a_slow_reader_of_large_responses_does_not_delay_other_clients() -> None:
    payload = os.urandom(20_000_000)

    def handle(request: Request, channel: RequestChannel) -> None:
        if request.header.client_id == "slow":
            respond(request, channel, [payload])
        else:
            echo_correlation_id(request, channel)

    with running_server(handle) as server, connect(server) as slow, connect(server) as quick:
        slow.sendall(request_frame(1, "slow") + request_frame(2, "slow"))
        for number in range(50):
            quick.sendall(request_frame(number))
            assert read_correlation_id(quick) == number
        for _ in range(2):
            assert read_frame(slow) == payload


def test_nothing_more_is_read_from_a_client_that_does_not_read() -> None:
    handled: list[int] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        handled.append(request.header.correlation_id)
        respond(request, channel, [bytes(5_000_000)])

    with running_server(handle) as server, connect(server) as deaf, connect(server) as quick:
        deaf.settimeout(0.3)
        with pytest.raises(TimeoutError):
            deaf.sendall(request_frame(1) * 2_000_000)
        assert len(handled) <= 2
        quick.sendall(request_frame(7))
        assert len(read_frame(quick)) == 5_000_000


def test_connections_per_address_are_limited() -> None:
    with running_server(max_connections_per_ip=2) as server:
        first, second = connect(server), connect(server)
        for number, client in enumerate((first, second)):
            client.sendall(request_frame(number))
            assert read_correlation_id(client) == number
        with connect(server) as third:
            assert is_closed(third)
        first.close()
        # The server notices the end of the first one on its own; until then it refuses.
        assert eventually(lambda: answer_to_a_new_client(server, 4)) == struct.pack(">ii", 4, 4)
        second.close()


def answer_to_a_new_client(server: SocketServer, correlation_id: int) -> bytes:
    with connect(server) as client:
        try:
            client.sendall(request_frame(correlation_id))
            return read_exactly(client, 8)
        except (ConnectionResetError, BrokenPipeError):
            return b""


def test_an_address_may_have_its_own_limit() -> None:
    config: dict[str, Any] = {"max_connections_per_ip": 10, "max_connections_per_ip_overrides": {"localhost": 0}}
    with running_server(**config) as server, connect(server) as client:
        assert is_closed(client)


def test_idle_connections_are_closed_and_no_longer_counted() -> None:
    time = ShiftedTime()
    with running_server(time=time) as server, connect(server) as client:
        client.sendall(request_frame(1))
        assert read_correlation_id(client) == 1
        time.advance(hours=1)
        assert is_closed(client)
        eventually(lambda: not server.connection_count(LOOPBACK))


def test_a_response_for_a_closed_connection_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    held: list[Request] = []
    arrived = threading.Event()

    def handle(request: Request, channel: RequestChannel) -> None:
        if request.header.correlation_id == 1:
            held.append(request)
            arrived.set()
        else:
            echo_correlation_id(request, channel)

    time = ShiftedTime()
    completed: list[int] = []
    with running_server(handle, time=time) as server:
        server.request_channel.add_completion_listener(
            lambda request, _now_ms: completed.append(request.header.correlation_id)
        )
        with connect(server) as client:
            client.sendall(request_frame(1))
            assert arrived.wait(patient_s(30))
            time.advance(hours=1)
            assert is_closed(client)  # idle for too long
        echo_correlation_id(held[0], server.request_channel)
        with connect(server) as client:
            client.sendall(request_frame(2))
            assert read_correlation_id(client) == 2
        eventually(lambda: completed == [1, 2])
    assert not caplog.records


def test_several_listeners() -> None:
    listeners = (Listener(LOOPBACK), Listener(LOOPBACK, 0, "INTERNAL", "PLAINTEXT"))
    seen: list[str] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        seen.append(f"{request.listener_name}:{request.processor}")
        echo_correlation_id(request, channel)

    with running_server(handle, listeners=listeners, num_network_threads=2) as server:
        for name in ("PLAINTEXT", "INTERNAL", "INTERNAL", "INTERNAL"):
            with connect(server, name) as client:
                client.sendall(request_frame(1))
                read_frame(client)
        threads = {thread.name for thread in threading.enumerate()}
        assert {
            f"kafka-socket-acceptor-INTERNAL-{server.bound_port('INTERNAL')}",
            "kafka-network-thread-0-PLAINTEXT-1",
            "kafka-network-thread-0-INTERNAL-3",
            "kafka-request-handler-1",
        } <= threads
        with pytest.raises(KafkaError, match="unknown listener SASL; known: PLAINTEXT, INTERNAL"):
            server.bound_port("SASL")
    assert seen == ["PLAINTEXT:0", "INTERNAL:2", "INTERNAL:3", "INTERNAL:2"]


def test_a_port_in_use_is_named_and_nothing_is_left_open() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        server = SocketServer(SocketServerConfig((Listener(LOOPBACK, 0), Listener(LOOPBACK, port, "SECOND"))))
        open_before = len(os.listdir("/proc/self/fd"))
        with pytest.raises(KafkaError, match=f"failed to bind to {LOOPBACK}:{port}: {os.strerror(errno.EADDRINUSE)}"):
            server.startup()
        assert len(os.listdir("/proc/self/fd")) == open_before


def test_two_listeners_of_one_name_are_refused() -> None:
    with pytest.raises(KafkaError, match="PLAINTEXT occurs twice"):
        SocketServer(SocketServerConfig((Listener(LOOPBACK), Listener(LOOPBACK)))).startup()


def test_an_empty_host_means_all_interfaces() -> None:
    with running_server(listeners=(Listener(""),)) as server, connect(server) as client:
        client.sendall(request_frame(7))
        assert read_correlation_id(client) == 7
        assert server.connection_count(LOOPBACK) == 1


@pytest.mark.parametrize(("mapped", "plain"), [("::ffff:10.0.0.1", "10.0.0.1"), ("::1", "::1"), ("10.0.0.1",) * 2])
def test_ipv4_clients_of_an_ipv6_socket(mapped: str, plain: str) -> None:
    assert unmapped(mapped) == plain


def test_shutdown_under_load_leaves_no_thread_and_no_socket() -> None:
    open_before = len(os.listdir("/proc/self/fd"))
    clients: list[socket.socket] = []
    answered = threading.Event()

    def hammer(client: socket.socket) -> None:
        try:
            while True:
                client.sendall(request_frame(1) * 20)
                if len(read_exactly(client, 20 * 8)) < 20 * 8:
                    return
                answered.set()
        except OSError:
            return

    with running_server(num_network_threads=2) as server:
        clients = [connect(server) for _ in range(10)]
        threads = [threading.Thread(target=hammer, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        assert answered.wait(patient_s(30))
        channel = server.request_channel
        server.shutdown()
        for thread in threads:
            thread.join(patient_s(30))
        assert not any(thread.is_alive() for thread in threads)
        assert server.connection_count(LOOPBACK) == 0
        assert channel.request_queue_size == 0
    for client in clients:
        client.close()
    assert len(os.listdir("/proc/self/fd")) == open_before


def test_shutdown_twice_and_without_startup() -> None:
    server = SocketServer(SocketServerConfig((Listener(LOOPBACK),)))
    server.shutdown()
    server.startup()
    server.shutdown()
    server.shutdown()


def test_the_acceptor_survives_a_lack_of_file_descriptors(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = iter([OSError(errno.EMFILE, "Too many open files")] * 3)

    class Exhausted:
        """The listening socket of a process that has no descriptor left, for a while."""

        def __init__(self, real: socket.socket) -> None:
            self._real = real

        def accept(self) -> Any:
            for failure in failures:
                raise failure
            return self._real.accept()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

    original = Acceptor._accept

    def accept(self: Acceptor) -> None:
        real = self._server_socket
        self._server_socket = Exhausted(real)  # type: ignore[assignment]
        original(self)
        self._server_socket = real

    monkeypatch.setattr(Acceptor, "_accept", accept)
    monkeypatch.setattr("kafka_lite.network.acceptor.PAUSE_AFTER_ERROR_MS", 1)
    with running_server() as server, connect(server) as client:
        client.sendall(request_frame(7))
        assert read_correlation_id(client) == 7
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("Error while accepting connections on port ")
    assert line.endswith(": Too many open files")


def test_the_times_of_a_request() -> None:
    ended: list[Any] = []
    done = threading.Event()

    def on_completion(request: Request, end_time_ms: float) -> None:
        ended.append(request.times(end_time_ms))
        done.set()

    with running_server() as server, connect(server) as client:
        server.request_channel.add_completion_listener(on_completion)
        client.sendall(request_frame(7))
        assert read_correlation_id(client) == 7
        assert done.wait(patient_s(30))
        (times,) = ended
        phases = [
            times.request_queue_ms,
            times.local_ms,
            times.remote_ms,
            times.throttle_ms,
            times.response_queue_ms,
            times.response_send_ms,
        ]
        assert all(phase >= 0 for phase in phases)
        assert times.remote_ms == times.throttle_ms == 0
        assert times.total_ms >= times.request_queue_ms + times.response_queue_ms + times.response_send_ms


# ── Pipelined requests ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_later_response_holds_back_the_requests_behind_it() -> None:
    order: list[int] = []
    held: list[Request] = []
    arrived = threading.Event()

    def handle(request: Request, channel: RequestChannel) -> None:
        order.append(request.header.correlation_id)
        if request.header.correlation_id == 3:
            held.append(request)
            arrived.set()
        else:
            echo_correlation_id(request, channel)

    with running_server(handle) as server, connect(server) as client:
        client.sendall(b"".join(request_frame(number) for number in range(40)))
        assert arrived.wait(patient_s(30))
        assert [read_correlation_id(client) for _ in range(3)] == [0, 1, 2]
        assert order == [0, 1, 2, 3]
        echo_correlation_id(held[0], server.request_channel)
        assert [read_correlation_id(client) for _ in range(37)] == list(range(3, 40))
    assert order == list(range(40))


def test_responses_from_another_thread_stay_in_order() -> None:
    """Each response comes from a thread of its own, sometimes before the handler returns and sometimes after."""
    order: list[int] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        order.append(request.header.correlation_id)
        answer = threading.Thread(target=echo_correlation_id, args=(request, channel))
        answer.start()
        if request.header.correlation_id % 3:
            answer.join()

    with running_server(handle, io_threads=3) as server, connect(server) as client:
        client.sendall(b"".join(request_frame(number) for number in range(400)))
        assert [read_correlation_id(client) for _ in range(400)] == list(range(400))
    assert order == list(range(400))


@pytest.mark.parametrize("kind", ["unknown API", "2 GiB", "negative size", "body too short"])
def test_requests_before_a_bad_frame_get_responses_and_those_behind_it_do_not(kind: str) -> None:
    with running_server() as server, connect(server) as client:
        client.sendall(request_frame(1) + request_frame(2) + BAD_FRAMES[kind] + request_frame(3))
        assert [read_correlation_id(client) for _ in range(2)] == [1, 2]
        assert is_closed(client)


def test_requests_behind_one_that_closes_the_connection_are_not_handled() -> None:
    seen: list[int] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        seen.append(request.header.correlation_id)
        if request.header.correlation_id == 2:
            channel.close_connection(request)
        else:
            echo_correlation_id(request, channel)

    with running_server(handle) as server, connect(server) as client:
        client.sendall(b"".join(request_frame(number) for number in range(10)))
        assert [read_correlation_id(client) for _ in range(2)] == [0, 1]
        assert is_closed(client)
    assert seen == [0, 1, 2]


def test_large_responses_do_not_pile_up() -> None:
    handled: list[int] = []
    large = SMALL_RESPONSE_BYTES + 1

    def handle(request: Request, channel: RequestChannel) -> None:
        handled.append(request.header.correlation_id)
        respond(request, channel, [bytes(20_000_000 if request.header.correlation_id == 0 else large)])

    with running_server(handle) as server, connect(server) as client, connect(server) as other:
        client.sendall(b"".join(request_frame(number) for number in range(10)))
        eventually(lambda: handled)  # no connection has precedence over another
        for number in range(100, 110):
            other.sendall(request_frame(number))
            read_frame(other)
        assert [number for number in handled if number < 100] == [0]  # its response does not fit into the socket
        assert [len(read_frame(client)) for _ in range(10)] == [20_000_000] + [large] * 9


@needs_plain_package
def test_a_failing_decoder_closes_one_connection_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    original = processor_module.parse_request

    def parse(frame: memoryview) -> Any:
        if b"poison" in bytes(frame):
            raise ZeroDivisionError
        return original(frame)

    monkeypatch.setattr(processor_module, "parse_request", parse)
    with running_server() as server, connect(server) as bad, connect(server) as good:
        bad.sendall(request_frame(1) + request_frame(2, "poison"))
        assert read_correlation_id(bad) == 1
        assert is_closed(bad)
        good.sendall(request_frame(3))
        assert read_correlation_id(good) == 3
    assert "its request cannot be read" in caplog.text


def test_an_error_before_the_handlers_closes_one_connection_only(caplog: pytest.LogCaptureFixture) -> None:
    with running_server() as server, connect(server) as bad, connect(server) as good:

        def fail_at_poison(request: Request) -> Request:
            if request.header.client_id == "poison":
                raise ZeroDivisionError
            return request

        server.request_channel.quick_handler = fail_at_poison
        bad.sendall(request_frame(1, "poison"))
        good.sendall(request_frame(3))
        assert is_closed(bad)
        assert read_correlation_id(good) == 3
        good.sendall(request_frame(4))
        assert read_correlation_id(good) == 4
    assert "cannot be read or handled" in caplog.text
