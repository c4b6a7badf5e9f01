"""The HTTP server of a worker.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/RestServer.java · book 8.3.3
"""

from __future__ import annotations

import logging
import selectors
import socket
import socketserver
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.herder import Herder
from kafka_lite.connect.runtime.rest.cross_origin_filter import CrossOriginFilter
from kafka_lite.connect.runtime.rest.request_body import read_body
from kafka_lite.connect.runtime.rest.request_forwarder import RequestForwarder
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError, response_to
from kafka_lite.connect.runtime.rest.rest_messages import HttpRequest, HttpResponse, error_response
from kafka_lite.connect.runtime.rest.router import Router, routes
from kafka_lite.connect.runtime.worker_config import WorkerConfig

logger = logging.getLogger(__name__)

DEFAULT_HOST = "127.0.0.1"
"""A client of the REST interface may run any connector, and so read and write files. So it is for this machine, unless
``rest.host.name`` says otherwise. (Kafka listens at all addresses.)"""
IDLE_TIMEOUT_S = 30.0
"""A connection without a request, or in the middle of one, is closed after this time, as by Jetty."""
GRACEFUL_SHUTDOWN_TIMEOUT_S = 5.0
"""How long requests may take to end when the worker stops."""


class RestServer:
    """Answers each connection in a thread of its own: a request may wait for the herder.

    The port is taken when it is created, so that the worker knows its URL. Requests before ``start`` wait for it.
    """

    def __init__(self, config: WorkerConfig, forwarder: RequestForwarder | None = None) -> None:
        """Raises ConnectError if the port is taken."""
        self._forwarder = forwarder or RequestForwarder()
        self._cross_origin = CrossOriginFilter(
            config["access.control.allow.origin"], config["access.control.allow.methods"]
        )
        host, port = config["rest.host.name"] or DEFAULT_HOST, config["rest.port"]
        try:
            self._http = _HttpServer(host, port)
        except OSError as error:
            raise ConnectError(
                f"The REST interface cannot listen at {host}:{port}: {error.strerror or error}. "
                "Choose another rest.port or rest.host.name."
            ) from None
        self._acceptor: _Acceptor | None = None
        self._advertised_host = config["rest.advertised.host.name"] or host
        self._advertised_port = config["rest.advertised.port"] or self._http.server_address[1]

    @property
    def advertised_url(self) -> str:
        """Where other workers reach this one: ``http://127.0.0.1:8083/``."""
        return f"http://{self.worker_id}/"

    @property
    def worker_id(self) -> str:
        """``host:port`` of the advertised URL, which names the worker in statuses."""
        host = f"[{self._advertised_host}]" if ":" in self._advertised_host else self._advertised_host
        return f"{host}:{self._advertised_port}"

    def start(self, herder: Herder) -> None:
        """Serve requests."""
        router = Router(routes(herder, self._forwarder), self.advertised_url)
        self._http.answer = _Answer(router, self._cross_origin)
        self._acceptor = _Acceptor(self._http)
        self._acceptor.start()
        logger.info("REST server listening at %s, advertising URL %s", self._http.server_address, self.advertised_url)

    def stop(self) -> None:
        """Accept no more requests, let the current ones end, and release the port."""
        if self._acceptor is not None:
            self._acceptor.shutdown()
            self._acceptor = None
        self._http.stop(GRACEFUL_SHUTDOWN_TIMEOUT_S)
        logger.info("REST server stopped")


class _Answer:
    """Router and filter."""

    def __init__(self, router: Router, cross_origin: CrossOriginFilter) -> None:
        self._router = router
        self._cross_origin = cross_origin

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._router.answer(request)
        more = self._cross_origin.headers(request.method, request.headers)
        return HttpResponse(response.status, response.body, {**response.headers, **more})


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

    def on_exit(self) -> None:
        """Release what the wait needed."""
        self._selector.close()
        self._wakeup_reader.close()
        self._wakeup_writer.close()


class _HttpServer(ThreadingHTTPServer):
    """Keeps its connections and their threads, to end them."""

    answer: _Answer
    allow_reuse_port = False
    timeout = 0  # of handle_request: the connection is there, or has been closed again

    def __init__(self, host: str, port: int) -> None:
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

    def _serve(self) -> None:
        started = time.monotonic()
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            request = HttpRequest(self.command, self.path, headers, read_body(self.rfile, headers))
        except ConnectRestError as error:
            self.close_connection = True  # what follows may be the rest of the body
            self._send(response_to(error), started)
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
        self._send(error_response(status, message or status.phrase), time.monotonic())

    def log_message(self, format: str, *args: object) -> None:
        """Log the notes of the base class, such as that a connection was idle too long."""
        logger.debug(format, *args)


def _printable(line: str) -> str:
    """A line of a client, for the log, which it must not break or forge."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)
