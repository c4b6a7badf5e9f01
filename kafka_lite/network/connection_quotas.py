"""How many connections an address may have.

Kafka 0.10.2: core/.../network/SocketServer.scala (ConnectionQuotas) · book 2.3.1
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Mapping

from kafka_lite.common.errors import KafkaError


class TooManyConnectionsError(KafkaError):
    """An address has reached ``max.connections.per.ip`` (or its own limit)."""

    def __init__(self, address: str, maximum: int) -> None:
        super().__init__(f"Too many connections from {address} (maximum = {maximum})")
        self.address = address
        self.maximum = maximum


class ConnectionQuotas:
    """Counts connections by the address they come from, over all listeners."""

    def __init__(self, default_max: int, overrides: Mapping[str, int]) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.update(default_max, overrides)

    def update(self, default_max: int, overrides: Mapping[str, int]) -> None:
        """Set new limits. An address that is above its new limit keeps its connections."""
        by_address = {address: maximum for host, maximum in overrides.items() for address in addresses_of(host)}
        with self._lock:
            self._default_max = default_max
            self._overrides = by_address

    def inc(self, address: str) -> None:
        """One more connection from ``address``. Raises TooManyConnectionsError, and then does not count it."""
        with self._lock:
            maximum = self._overrides.get(address, self._default_max)
            if self._counts[address] >= maximum:
                raise TooManyConnectionsError(address, maximum)
            self._counts[address] += 1

    def dec(self, address: str) -> None:
        """One connection fewer from ``address``."""
        with self._lock:
            if not self._counts[address]:
                raise ValueError(f"attempted to decrease the connection count of {address}, which has no connections")
            self._counts[address] -= 1
            if not self._counts[address]:
                del self._counts[address]

    def get(self, address: str) -> int:
        """Connections from ``address`` now."""
        with self._lock:
            return self._counts[address]


def addresses_of(host: str) -> list[str]:
    """The addresses of a host in ``max.connections.per.ip.overrides``; an unknown name stands for itself."""
    try:
        return sorted({str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)})
    except (OSError, UnicodeError):  # (the latter if it is not a valid name, such as one with an empty label)
        return [host]
