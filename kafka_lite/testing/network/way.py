"""One direction of the network between two machines of a test cluster, and the bytes that travel on it.

Kafka has no such thing; its system tests (network_degrade_test) let the kernel delay and drop packets · book 6.2
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

MAX_BYTES_UNDER_WAY = 1024 * 1024
"""How much a stream takes in before its sender has to wait."""


@dataclass
class Way:
    """The state of one direction, for example from broker 1 to broker 2, shared by all connections on it.

    A cut does not lose bytes: as with TCP, they arrive after the network is restored, if both ends still wait.
    """

    is_cut: bool = False
    delay_ms: float = 0.0
    bytes_per_s: float = math.inf


class Stream:
    """The bytes of one connection in one direction, in order, with the time at which each part may arrive::

        sender ──▶ take_in ──▶ [ part, due ][ part, due ][ end, due ] ──▶ due_part / delivered ──▶ receiver

    All times are in ms of one monotonic clock. No I/O.
    """

    def __init__(self, way: Way) -> None:
        self._way = way
        self._parts: deque[tuple[float, bytes]] = deque()  # an empty part is the end of the stream
        self._bytes_under_way = 0
        self._free_at_ms = 0.0  # when the last part has passed a way of limited rate

    @property
    def has_room(self) -> bool:
        """Whether it takes in more bytes."""
        return self._bytes_under_way < MAX_BYTES_UNDER_WAY

    @property
    def has_parts(self) -> bool:
        """Whether bytes or the end of the stream are under way."""
        return bool(self._parts)

    def take_in(self, data: bytes, now_ms: float) -> None:
        """Add what the sender has sent; empty data is the end of the stream."""
        self._free_at_ms = max(self._free_at_ms, now_ms) + len(data) / self._way.bytes_per_s * 1000
        self._parts.append((self._free_at_ms + self._way.delay_ms, data))
        self._bytes_under_way += len(data)

    def due_ms(self) -> float:
        """When the next part may arrive; infinite if there is none, or if the way is cut."""
        return math.inf if self._way.is_cut or not self._parts else self._parts[0][0]

    def due_part(self, now_ms: float) -> bytes | None:
        """The part that may arrive now; None if there is none yet."""
        return self._parts[0][1] if self.due_ms() <= now_ms else None

    def delivered(self, count: int) -> None:
        """Remove the first ``count`` bytes of the due part, or the part if that is all of it."""
        due_ms, part = self._parts.popleft()
        if count < len(part):
            self._parts.appendleft((due_ms, part[count:]))
        self._bytes_under_way -= count
