"""An HTTP server with one thread for each connection: a request may wait for whatever answers it.

Bodies are bounded, an idle connection is closed, and a stop lets the requests end that are answered now.

Kafka 0.10.2: Jetty, in connect/runtime/.../connect/runtime/rest/RestServer.java · book 8.3.3
"""

from __future__ import annotations

import logging
import selectors
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kafka_lite.common.http.http_messages import HttpRequest, HttpRequestError, HttpResponse
from kafka_lite.common.http.request_body import read_body
from kafka_lite.common.shutdownable_thread import ShutdownableThread

logger = logging.getLogger(__name__)

IDLE_TIMEOUT_S = 30.0
"""A connection without a request, or in the middle of one, is closed after this time, as by Jetty."""
GRACEFUL_SHUTDOWN_TIMEOUT_S = 5.0
"""How long requests may take to end when the server stops."""

Answer = Callable[[HttpRequest], HttpResponse]
Refuse = Callable[[HTTPStatus, str], HttpResponse]
"""The response to a request that is no HTTP, or whose body cannot be read, in the form of the interface."""


class HttpServer:
    """The server. The port is taken when it is created. Requests before ``start`` wait for it."""

    def __init__(self, host: str, port: int, refuse: Refuse) -> None:
        """Raises OSError if the port is taken; a port of 0 is one that is free."""
        self._http = _HttpServer(host, port, refuse)
        self._acceptor: _Acceptor | None = None

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._http.server_address[1])

    def start(self, answer: Answer) -> None:
        """Serve requests."""
        self._http.answer = answer
        self._acceptor = _Acceptor(self._http)
        self._acceptor.start()

    def stop(self) -> None:
        """Accept no more requests, let the current ones end, and release the port."""
        if self._acceptor is not None:
            self._acceptor.shutdown()
            self._acceptor = None
        self._http.stop(GRACEFUL_SHUTDOWN_TIMEOUT_S)


class _Acceptor(ShutdownableThread):
    """Waits for connections."""

    def __init__(self, http: _HttpServer) -> None:
        super().__init__("rest-server")
        self._http = http
        self._wakeup_reader, self._wakeup_writer = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for each in (http.socket, self._wakeup_reader):
            self._selector.register(each, selectors.EVENT_READ)

    def do_work(self) -> None:
        """Accept a connection, for which a thread is started."""
        self._selector.select()
        if self.is_running:
            self._http.handle_request()

    def wake_up(self) -> None:
        """Interrupt the wait."""
        self._wakeup_writer.send(b"\0")

    def shutdown(self, timeout_s: float | None = None) -> None:
        """Stop, then release what the wait needed: a connection may have ended the loop before ``wake_up``."""
        super().shutdown(timeout_s)
        self._selector.close()
        self._wakeup_reader.close()
        self._wakeup_writer.close()


class _HttpServer(ThreadingHTTPServer):
    """Keeps its connections and their threads, to end them."""

    answer: Answer
    allow_reuse_port = False
    timeout = 0  # of handle_request: the connection is there, or has been closed again

    def __init__(self, host: str, port: int, refuse: Refuse) -> None:
        self.refuse = refuse
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        super().__init__((host, port), _Handler)
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, threading.Thread] = {}

    def server_bind(self) -> None:
        """Without the look-up of the host's name, which may take seconds."""
        socketserver.TCPServer.server_bind(self)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """In the thread of a connection: serve it until it ends."""
        with self._lock:
            self._connections[request] = threading.current_thread()
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._connections.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002  as the base class has it
        """An error ends only its connection."""
        error = sys.exception()
        if isinstance(error, OSError):
            logger.debug("A client at %s closed the connection: %s", client_address, error)
        else:
            logger.error("Error when serving %s", client_address, exc_info=error)

    def stop(self, timeout_s: float) -> None:
        """Read no more requests, and wait for those that are answered now."""
        self.server_close()
        with self._lock:
            connections = dict(self._connections)
        for connection in connections:
            with suppress(OSError):  # closed by the client
                connection.shutdown(socket.SHUT_RD)
        deadline = time.monotonic() + timeout_s
        for thread in connections.values():
            if thread is not threading.current_thread():
                thread.join(max(deadline - time.monotonic(), 0))


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: _HttpServer
    protocol_version = "HTTP/1.1"
    server_version = "kafka-lite"
    sys_version = ""
    timeout = IDLE_TIMEOUT_S
    disable_nagle_algorithm = True  # or the body would wait 40 ms for the client's acknowledgement of the headers

    def _serve(self) -> None:
        started = time.monotonic()
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            request = HttpRequest(self.command, self.path, headers, read_body(self.rfile, headers))
        except HttpRequestError as error:
            self.close_connection = True  # what follows may be the rest of the body
            self._send(self.server.refuse(error.status, str(error)), started)
            return
        self._send(self.server.answer(request), started)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_TRACE = _serve  # noqa: N815

    def _send(self, response: HttpResponse, started: float) -> None:
        self.send_response_only(response.status)
        self.send_header("Server", self.server_version)
        self.send_header("Date", self.date_time_string())
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status is not HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)
        logger.info(
            '%s - - [%s] "%s" %d %d %d',
            self.client_address[0], self.log_date_time_string(), _printable(self.requestline), response.status,
            len(response.body), (time.monotonic() - started) * 1000,
        )  # fmt: skip

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """The base class refuses a request that is not HTTP, or too long."""
        status = HTTPStatus(code)
        self.close_connection = True
        self._send(self.server.refuse(status, message or status.phrase), time.monotonic())

    def log_message(self, format: str, *args: object) -> None:
        """Log the notes of the base class, such as that a connection was idle too long."""
        logger.debug(format, *args)


def _printable(line: str) -> str:
    """A line of a client, for the log, which it must not break or forge."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)
