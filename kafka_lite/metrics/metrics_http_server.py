"""Exposes a broker's beans over HTTP, for Prometheus, tools and people.

::

    GET /metrics         Prometheus' text format
    GET /jmx             all beans as JSON: {"beans": [{"name": "kafka.server:type=…", "Count": 7, …}, …]}
    GET /jmx?qry=NAME    matching beans, for example kafka.server:type=BrokerTopicMetrics,*

Kafka uses JMX instead. The JSON format is that of Hadoop's ``/jmx``, which many tools can read.
"""

from __future__ import annotations

import json
import logging
import math
import selectors
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.metrics import prometheus_text
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MalformedObjectNameError, MetricName, ObjectNamePattern

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from ssl import SSLSocket

logger = logging.getLogger(__name__)

CONNECTION_TIMEOUT_S = 5.0
"""A connection is closed after this time, even if the client is still sending or reading."""
MAX_CONNECTIONS = 16
"""One connection more ends the oldest: slow clients keep nobody waiting."""
_BACKLOG = 16
_making = threading.Lock()
Secure = Callable[[socket.socket], "SSLSocket"]
"""Puts TLS on a connection that was accepted; the handshake is still to come."""
_INDEX = "GET /metrics: Prometheus' text format\nGET /jmx[?qry=OBJECTNAME]: all beans as JSON\n"


class MetricsHttpServer(ShutdownableThread):
    """Serves each connection in a thread of its own, one request on each. Responses are made one after the other.

    It is read-only, and each client that can connect can read. So it listens on the loopback interface by default. It
    may have TLS, and ask clients for certificates.
    """

    def __init__(self, beans: MBeanServer, host: str, port: int, secure: Secure | None = None) -> None:
        """Bind the port. ``secure``: the TLS of a connection. Raises KafkaError if that fails."""
        super().__init__("metrics-http-server")
        self._beans = beans
        self._secure = secure
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            self._socket = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        except OSError as error:
            raise KafkaError(f"Metrics server failed to bind to {host}:{port}: {error.strerror}.") from error
        self._socket.setblocking(False)
        self._lock = threading.Lock()
        self._connections: dict[_Connection, None] = {}
        self._wakeup_reader, self._wakeup_writer = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for sock in (self._socket, self._wakeup_reader):
            self._selector.register(sock, selectors.EVENT_READ)

    @property
    def url(self) -> str:
        """The URL of the server with its actual port: ``http://127.0.0.1:9404``, or ``https:``."""
        host, port = self._socket.getsockname()[:2]
        scheme = "http" if self._secure is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def do_work(self) -> None:
        """Wait for a connection and start its thread; end the oldest one if there are too many."""
        self._selector.select()
        try:
            connection, address = self._socket.accept()
            accepted = _Connection(connection, address, self._beans, self._closed, self._secure)
        except OSError:  # shutting down, or the client has disconnected
            return
        with self._lock:
            full = len(self._connections) >= MAX_CONNECTIONS
            oldest = next(iter(self._connections)) if full else None
            self._connections[accepted] = None
        if oldest is not None:
            self._closed(oldest)
            oldest.initiate_shutdown()
        accepted.start()

    def _closed(self, connection: _Connection) -> None:
        with self._lock:
            self._connections.pop(connection, None)

    def wake_up(self) -> None:
        """Interrupt the wait for a connection."""
        self._wakeup_writer.send(b"\0")

    def shutdown(self, timeout_s: float | None = None) -> None:
        """Stop the server, end its connections and release the port."""
        super().shutdown(timeout_s)
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.shutdown(timeout_s)
        self._selector.close()
        for sock in (self._socket, self._wakeup_reader, self._wakeup_writer):
            sock.close()


class _Connection(ShutdownableThread):
    """One connection of a client; the thread ends with it."""

    def __init__(
        self,
        connection: socket.socket,
        address: object,
        beans: MBeanServer,
        closed: Callable[[_Connection], None],
        secure: Secure | None,
    ) -> None:
        super().__init__("metrics-http-connection")
        self._tls = None if secure is None else secure(connection)
        self._connection = connection if self._tls is None else self._tls
        self._address = address
        self._beans = beans
        self._closed = closed

    def do_work(self) -> None:
        """Serve its request. An error ends only this connection."""
        deadline = threading.Timer(CONNECTION_TIMEOUT_S, _end, (self._connection,))
        deadline.daemon = True
        try:
            with self._connection as connection:
                connection.settimeout(CONNECTION_TIMEOUT_S)
                deadline.start()
                if self._tls is not None:
                    self._tls.do_handshake()
                _handler_class(self._beans)(connection, self._address, self)  # type: ignore[arg-type]
        except OSError as error:
            logger.debug("A client at %s closed the connection while reading metrics: %s", self._address, error)
        except Exception:
            logger.exception("Error when serving metrics to %s", self._address)
        finally:
            deadline.cancel()
        self.initiate_shutdown()

    def wake_up(self) -> None:
        """Interrupt the wait for data from the client, or for its reading."""
        _end(self._connection)

    def on_exit(self) -> None:
        """Leave the server's list."""
        self._connection.close()
        self._closed(self)


def _end(connection: socket.socket) -> None:
    """Shut down a connection that another thread is reading from."""
    with suppress(OSError):  # already closed
        socket.socket.shutdown(connection, socket.SHUT_RDWR)  # not that of TLS, which is not for two threads


def _handler_class(beans: MBeanServer) -> type[BaseHTTPRequestHandler]:
    """Define the request handler. The import is deferred to the first request, so that brokers start faster."""
    from http.server import BaseHTTPRequestHandler

    class Handler(BaseHTTPRequestHandler):
        server_version = "kafka-lite"
        sys_version = ""

        def do_GET(self) -> None:
            with _making:
                status, content_type, text = response_to(beans, self.path)
            body = text.encode(errors="replace")  # the name of a log directory may not be valid UTF-8
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            logger.debug(format, *args)

    return Handler


def response_to(beans: MBeanServer, target: str) -> tuple[HTTPStatus, str, str]:
    """Return status, content type and body for a request target."""
    url = urlsplit(target)
    if url.path == "/metrics":
        return HTTPStatus.OK, prometheus_text.CONTENT_TYPE, prometheus_text.prometheus_text(beans.query())
    if url.path == "/jmx":
        try:
            query = parse_qs(url.query).get("qry")
            pattern = ObjectNamePattern.parse(query[0]) if query else None
        except MalformedObjectNameError as error:
            return HTTPStatus.BAD_REQUEST, "text/plain; charset=utf-8", f"{error}\n"
        return HTTPStatus.OK, "application/json", jmx_json(beans.query(pattern))
    if url.path == "/":
        return HTTPStatus.OK, "text/plain; charset=utf-8", _INDEX
    return HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", f"{url.path} does not exist.\n{_INDEX}"


def jmx_json(beans: Mapping[MetricName, Mapping[str, AttributeValue]]) -> str:
    """One object per bean, with its name first. NaN and infinity, which JSON does not have, become null."""
    shown = [
        {"name": name.mbean_name, **{attribute: _as_json(value) for attribute, value in attributes.items()}}
        for name, attributes in beans.items()
    ]
    return json.dumps({"beans": shown}, indent=1) + "\n"


def _as_json(value: AttributeValue) -> AttributeValue | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value
