"""Brokers on a network without sockets: clients that use BlockingChannel get the responses that a test writes down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.protocol.framing import decode_request, decode_response, encode_request, encode_response
from kafka_lite.protocol.schema import Request, Response

Handler = Callable[[Any], "Response | Exception"]


class BlockingBrokers:
    """Brokers by port, whatever their host is called. One without handlers refuses connections.

    Requests and responses pass through their codecs, so that a field that a version does not have does not arrive.
    """

    def __init__(self) -> None:
        self.handlers: dict[int, dict[type[Request], Handler]] = {}
        self.requests: list[tuple[int, Request, int]] = []
        """Port, request and version, in order."""
        self.opened: list[int] = []
        """The port of each connection that was opened."""
        self.open = 0
        """How many connections are open."""

    def answer(self, port: int, request_class: type[Request], *responses: Response | Exception | Handler) -> None:
        """Let the broker at a port respond to requests of one kind: in this order, and with the last one for ever."""
        script = list(responses)

        def handle(request: Any) -> Response | Exception:
            each = script.pop(0) if len(script) > 1 else script[0]
            return each if isinstance(each, Response | Exception) else each(request)

        self.handlers.setdefault(port, {})[request_class] = handle

    def stop(self, port: int) -> None:
        """Refuse connections from now on."""
        del self.handlers[port]

    def sent_to(self, port: int) -> list[Any]:
        """The requests that a broker has received."""
        return [request for to, request, _ in self.requests if to == port]

    def channel(self, host: str, port: int, **_options: Any) -> ScriptedBlockingChannel:
        """In place of BlockingChannel."""
        return ScriptedBlockingChannel(self, host, port)


class ScriptedBlockingChannel:
    """A connection to one of the brokers, with one request in flight at a time."""

    def __init__(self, brokers: BlockingBrokers, host: str, port: int) -> None:
        self._brokers = brokers
        self.host, self.port = host, port
        self.is_connected = False
        self.last_request_bytes = 0
        self._in_flight: list[tuple[Request, int]] = []

    def connect(self) -> None:
        if self.port not in self._brokers.handlers:
            raise NotConnectedError(f"cannot connect to {self.host}:{self.port}")
        if not self.is_connected:
            self.is_connected = True
            self._brokers.opened.append(self.port)
            self._brokers.open += 1

    def close(self) -> None:
        self._brokers.open -= self.is_connected
        self.is_connected = False

    def abort(self) -> None:
        """The brokers respond at once, so there is nothing to interrupt."""

    def send(self, request: Request, version: int, *, expect_response: bool = True) -> None:
        assert self.is_connected, "a request without a connection"
        frame = encode_request(request, version, 1, "c")
        self.last_request_bytes = len(frame)
        _, received = decode_request(frame)
        self._brokers.requests.append((self.port, received, version))
        if expect_response:
            self._in_flight.append((received, version))

    def exchange(self, request: Request, version: int, timeout_ms: float | None = None) -> object:
        self.send(request, version)
        return self.receive(timeout_ms)

    def receive(self, timeout_ms: float | None = None) -> object:
        request, version = self._in_flight.pop()
        handlers = self._brokers.handlers.get(self.port, {})
        if type(request) not in handlers:
            self.close()
            raise NotConnectedError(f"{self.host}:{self.port} closed the connection")
        response = handlers[type(request)](request)
        if isinstance(response, Exception):
            self.close()
            raise response
        frame = b"".join(encode_response(response, version, 1))  # type: ignore[arg-type]  # all of it in memory
        return decode_response(request.API_KEY, version, frame)[1]
