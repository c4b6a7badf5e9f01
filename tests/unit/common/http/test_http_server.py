"""Requests are answered as values; a request that is none is refused in the form of the interface."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http import HTTPStatus

import pytest

from kafka_lite.common.http.http_messages import HttpRequest, HttpResponse
from kafka_lite.common.http.http_server import HttpServer
from kafka_lite.common.http.request_body import MAX_BODY_BYTES
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from tests.support.patience import patient_s


def refuse(status: HTTPStatus, message: str) -> HttpResponse:
    return HttpResponse(status, f"no: {message}".encode())


def echo(request: HttpRequest) -> HttpResponse:
    text = f"{request.method} {request.target} {request.headers.get('x-name')} {request.body.decode()}"
    return HttpResponse(HTTPStatus.OK, text.encode(), {"X-Name": "here"})


@pytest.fixture
def server() -> Iterator[HttpServer]:
    server = HttpServer("127.0.0.1", 0, refuse)
    server.start(echo)
    yield server
    server.stop()


def connect(server: HttpServer) -> closing[http.client.HTTPConnection]:
    return closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=patient_s(10)))


def test_requests_of_one_connection_are_answered_in_turn(server: HttpServer) -> None:
    with connect(server) as client:
        for number in range(2):
            client.request("PUT", f"/topics?n={number}", b"body", {"X-Name": "me"})
            response = client.getresponse()
            assert (response.status, response.getheader("X-Name")) == (200, "here")
            assert response.read() == f"PUT /topics?n={number} me body".encode()


def test_a_body_does_not_wait_for_the_acknowledgement_of_its_headers(server: HttpServer) -> None:
    """Which a client that keeps its connection delays by 40 ms: so Nagle's algorithm is off."""
    with connect(server) as client:
        client.request("GET", "/")
        client.getresponse().read()
        (served,) = server._http._connections
        assert served.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_body_beyond_the_bound_is_refused_and_ends_the_connection(server: HttpServer) -> None:
    with connect(server) as client:
        client.putrequest("POST", "/")
        client.putheader("Content-Length", str(MAX_BODY_BYTES + 1))
        client.endheaders()
        response = client.getresponse()
        assert (response.status, response.getheader("Connection")) == (413, "close")
        assert response.read() == f"no: The request's body is larger than {MAX_BODY_BYTES} bytes".encode()


def test_a_request_that_is_no_http_is_refused(server: HttpServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=patient_s(10)) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        with connection.makefile("rb") as answer:
            assert answer.read().endswith(b"no: Bad request syntax ('nonsense')")


def test_a_request_without_headers_or_body_is_answered(server: HttpServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=patient_s(10)) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        with connection.makefile("rb") as answer:
            head, _, body = answer.read().partition(b"\r\n\r\n")
    assert (head.splitlines()[0], body) == (b"HTTP/1.1 200 OK", b"GET / None ")


def test_clients_are_answered_beside_one_that_sends_nothing(server: HttpServer) -> None:
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=patient_s(10)) as silent,
        connect(server) as client,
    ):
        silent.sendall(b"GET / HT")
        client.request("GET", "/beside")
        assert client.getresponse().read() == b"GET /beside None "


def test_an_error_of_the_answer_ends_only_its_connection(caplog: pytest.LogCaptureFixture) -> None:
    def fail(request: HttpRequest) -> HttpResponse:
        if request.target == "/fail":
            raise ValueError("broken")
        return echo(request)

    server = HttpServer("127.0.0.1", 0, refuse)
    server.start(fail)
    try:
        with connect(server) as client:
            client.request("GET", "/fail")
            with pytest.raises(http.client.RemoteDisconnected):
                client.getresponse()
        with connect(server) as client:
            client.request("GET", "/")
            assert client.getresponse().status == 200
    finally:
        server.stop()
    assert "Error when serving" in caplog.text


def test_a_stop_lets_a_request_end_that_is_being_answered() -> None:
    asked, release = threading.Event(), threading.Event()

    def slow(request: HttpRequest) -> HttpResponse:
        asked.set()
        assert release.wait(patient_s(10))
        return echo(request)

    server = HttpServer("127.0.0.1", 0, refuse)
    server.start(slow)
    with connect(server) as client:
        client.request("GET", "/slow")
        assert asked.wait(patient_s(10))
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        release.set()
        assert client.getresponse().read() == b"GET /slow None "
        stopping.join(patient_s(10))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=patient_s(10))


def test_a_connection_in_the_moment_of_a_stop_does_not_prevent_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends the acceptor's wait before the stop does."""
    server = HttpServer("127.0.0.1", 0, refuse)
    server.start(echo)
    (acceptor,) = (
        each for each in threading.enumerate() if isinstance(each, ShutdownableThread) and each.name == "rest-server"
    )
    wake_up = acceptor.wake_up

    def connect_before() -> None:
        with socket.create_connection(("127.0.0.1", server.port)):
            acceptor.join(patient_s(10))
        assert not acceptor.is_alive()
        wake_up()

    monkeypatch.setattr(acceptor, "wake_up", connect_before)
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))


def test_a_port_that_is_taken_is_an_error(server: HttpServer) -> None:
    with pytest.raises(OSError, match="in use"):
        HttpServer("127.0.0.1", server.port, refuse)
