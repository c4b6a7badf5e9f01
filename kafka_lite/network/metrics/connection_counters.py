"""Counts the traffic of each connection of a selector, besides that of all together.

Kafka 0.10.2: clients/.../common/network/Selector.java (metricsPerConnection) · book 2.1.4
"""

from __future__ import annotations

from kafka_lite.network.metrics.selector_counters import SelectorCounters
from kafka_lite.network.receive import NetworkReceive
from kafka_lite.network.send import NetworkSend


class ConnectionCounters(SelectorCounters):
    """For clients, which have few connections, named after brokers."""

    __slots__ = ("by_connection",)

    def __init__(self) -> None:
        super().__init__()
        self.by_connection: dict[str, SelectorCounters] = {}
        """Connection id -> its counters, even of connections that are gone."""

    def sent(self, send: NetworkSend) -> None:
        """A send is out."""
        super().sent(send)
        self._of(send.destination).sent(send)

    def received(self, receive: NetworkReceive) -> None:
        """A frame is complete."""
        super().received(receive)
        self._of(receive.source).received(receive)

    def _of(self, connection_id: str) -> SelectorCounters:
        counters = self.by_connection.get(connection_id)
        if counters is None:
            counters = self.by_connection[connection_id] = SelectorCounters()
        return counters
