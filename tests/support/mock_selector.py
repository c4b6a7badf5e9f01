"""A selector without sockets: the test decides what connects, arrives and breaks; time passes only in ``poll``."""

from __future__ import annotations

import math

from kafka_lite.common.time import MockTime
from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.network.receive import NetworkReceive
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.framing import encode_response
from kafka_lite.protocol.schema import Response


class MockSelector:
    """Acts as :class:`kafka_lite.network.selector.Selector` for a network client; connections open at the next poll."""

    def __init__(self, time: MockTime) -> None:
        self.connected: list[str] = []
        self.disconnected: dict[str, str] = {}
        self.failed_authentications: dict[str, AuthenticationError] = {}
        self.completed_sends: list[NetworkSend] = []
        self.completed_receives: list[NetworkReceive] = []
        self.sent: list[NetworkSend] = []
        """Everything that was ever sent."""
        self.closed: list[str] = []
        self.refuse_connections = False
        self.hold_connections = False
        self.hold_sends = False
        self._time = time
        self._connecting: list[str] = []
        self._open: set[str] = set()
        self._unsent: list[NetworkSend] = []
        self._next_receives: list[NetworkReceive] = []
        self._next_disconnected: dict[str, str] = {}

    # ── What the network client calls ─────────────────────────────────────────────────────────────────────────────

    def connect(self, connection_id: str, host: str, port: int, *_: int) -> None:
        if self.refuse_connections:
            raise ConnectionRefusedError(f"{host}:{port} refuses")
        self._connecting.append(connection_id)

    def is_channel_ready(self, connection_id: str) -> bool:
        return connection_id in self._open

    def send(self, send: NetworkSend) -> None:
        assert send.destination in self._open
        self._unsent.append(send)

    def poll(self, timeout_ms: float) -> None:
        self._clear()
        if not self.hold_connections:
            self.connected, self._connecting = self._connecting, []
            self._open.update(self.connected)
        if not self.hold_sends:
            for send in self._unsent:
                send.remaining_bytes = 0
            self.completed_sends, self._unsent = self._unsent, []
            self.sent += self.completed_sends
        self.completed_receives, self._next_receives = self._next_receives, []
        self.disconnected, self._next_disconnected = self._next_disconnected, {}
        self._open -= self.disconnected.keys()
        something = self.connected or self.completed_sends or self.completed_receives or self.disconnected
        if not something:
            assert timeout_ms < math.inf, "the poll would never return"
            self._time.sleep(timeout_ms)

    def wakeup(self) -> None:
        """A no-op: no thread sleeps."""

    def channels(self) -> list[str]:
        """The open connections."""
        return list(self._open)

    def close(self, connection_id: str | None = None) -> None:
        if connection_id is not None:
            self._open.discard(connection_id)
            self._connecting = [each for each in self._connecting if each != connection_id]
            self.closed.append(connection_id)

    def _clear(self) -> None:
        self.connected, self.disconnected = [], {}
        self.completed_sends, self.completed_receives = [], []

    # ── What the test calls ───────────────────────────────────────────────────────────────────────────────────────

    def answer(self, node: str, correlation_id: int, response: Response, version: int) -> None:
        """Make a response arrive at the next poll."""
        self.receive(node, b"".join(bytes(part) for part in encode_response(response, version, correlation_id)))  # type: ignore[arg-type]

    def receive(self, node: str, payload: bytes) -> None:
        """Make a frame arrive at the next poll."""
        receive = NetworkReceive(node)
        receive.feed(memoryview(len(payload).to_bytes(4, "big") + payload))
        self._next_receives.append(receive)

    def lose(self, node: str, error: AuthenticationError | None = None) -> None:
        """Make a connection break at the next poll, because of a failed authentication if there is an error."""
        self._connecting = [each for each in self._connecting if each != node]
        self._next_disconnected[node] = "lost"
        if error is not None:
            self.failed_authentications[node] = error
