"""The requests that are handled one at a time, because two would take twice the memory and be no faster.

Kafka 0.10.2: none; there the JVM runs threads in parallel · book 2.3.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kafka_lite.clients.fetch_metadata import INVALID_SESSION_ID
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.server.heavy_produces import MAX_PARTITIONS_AT_ONCE, is_heavy

_FETCH: Final = int(ApiKey.FETCH)


class HeavyRequests:
    """Tells whether a decoded request must not be handled beside others of which this is true."""

    def __init__(self, session_size: Callable[[int], int]) -> None:
        """``session_size`` returns how many partitions a fetch session remembers."""
        self._session_size = session_size

    def includes(self, request: Request) -> bool:
        """True for a Produce that expands far or has many partitions, and a consumer's Fetch of many.

        Followers are not kept waiting, since producers wait for them.
        """
        if request.header.api_key != _FETCH:
            return is_heavy(request)
        body = request.body
        assert isinstance(body, FetchRequest)
        if body.replica_id >= 0:
            return False
        remembered = 0 if body.session_id == INVALID_SESSION_ID else self._session_size(body.session_id)
        return remembered + sum(len(topic.partitions) for topic in body.topics) > MAX_PARTITIONS_AT_ONCE
