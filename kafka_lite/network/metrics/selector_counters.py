"""The counters of a selector, as plain numbers; ``SelectorMetrics`` makes Kafka's beans of them.

Kafka 0.10.2: clients/.../common/network/Selector.java (SelectorMetrics) · book 2.1.4
"""

from __future__ import annotations

from kafka_lite.network.receive import NetworkReceive
from kafka_lite.network.send import NetworkSend


class SelectorCounters:
    """Totals since the start. One thread writes them, any thread may read them."""

    __slots__ = (
        "bytes_received",
        "bytes_sent",
        "connections_closed",
        "connections_created",
        "io_ms",
        "io_wait_ms",
        "largest_send_bytes",
        "receives",
        "selects",
        "sends",
    )

    def __init__(self) -> None:
        self.selects = 0
        self.io_wait_ms = 0.0
        """Time spent waiting in ``select``."""
        self.io_ms = 0.0
        """Time spent reading and writing between two selects."""
        self.sends = 0
        self.bytes_sent = 0
        self.largest_send_bytes = 0
        """The largest send since this was last set to 0."""
        self.receives = 0
        self.bytes_received = 0
        """Without the four bytes before each frame, as in Kafka."""
        self.connections_created = 0
        self.connections_closed = 0

    def polled(self, select_ms: float, selected_ms: float, end_ms: float) -> None:
        """A poll waited from ``select_ms`` to ``selected_ms``, then worked until ``end_ms``."""
        self.selects += 1
        self.io_wait_ms += selected_ms - select_ms
        self.io_ms += end_ms - selected_ms

    def sent(self, send: NetworkSend) -> None:
        """A send is out, with all of its frames."""
        size = send.size_in_bytes
        self.sends += send.frames
        self.bytes_sent += size
        if size > self.largest_send_bytes:
            self.largest_send_bytes = size

    def received(self, receive: NetworkReceive) -> None:
        """A frame is complete and handed out."""
        self.receives += 1
        self.bytes_received += receive.size
