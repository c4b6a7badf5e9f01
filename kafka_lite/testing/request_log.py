"""The log of requests that a test broker received.

Kafka 0.10.2: core/.../network/RequestChannel.scala (requestLogger) · book 2.3.3
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Message
from kafka_lite.testing.arguments import check_function, check_whole_number

MAX_REQUESTS = 10_000
MAX_BYTES = 64 * 1024 * 1024

Api = ApiKey | str
"""An API: ``ApiKey.LIST_OFFSETS``, or its name in any spelling: "ListOffsets", "LIST_OFFSETS"."""


def api_key(api: Api) -> ApiKey:
    """The key of an API. Raises ValueError for an unknown name, TypeError for what is not one."""
    if isinstance(api, ApiKey):
        return api
    if not isinstance(api, str):
        raise TypeError(f"an API must be 'Produce', for example, or ApiKey.PRODUCE, not {api!r}")
    wanted = api.replace("_", "").upper()
    for key in ApiKey:
        if key.name.replace("_", "") == wanted:
            return key
    raise ValueError(f"Kafka has no API {api!r}; valid names are, for example, 'Produce' or ApiKey.LIST_OFFSETS")


@dataclass(eq=False)
class SeenRequest:
    """One request as received."""

    api: ApiKey
    version: int
    client_id: str | None
    body: Message
    connection_id: str
    size_in_bytes: int
    time_ms: int
    """Arrival time, ms since the epoch, on the broker's clock."""
    broker_id: int | None = None
    """The broker that received it; None in a cluster of one."""
    from_broker: int | None = None
    """The broker that sent it; None for a client."""
    fault: str = ""
    """Description of the fault that affected it; empty if none did."""

    @property
    def topics(self) -> list[str]:
        """The topics that the request names, if any."""
        arrays = (getattr(self.body, name, None) or () for name in ("topics", "topic_data", "topic_names"))
        items = itertools.chain.from_iterable(arrays)
        names = (item if isinstance(item, str) else getattr(item, "name", getattr(item, "topic", "")) for item in items)
        return [name for name in names if name]

    def __str__(self) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(self.time_ms / 1000))
        peer = self.connection_id.partition("-")[2].rpartition("-")[0] or self.connection_id
        sender = f"{self.client_id!r} at {peer}" if self.from_broker is None else f"broker {self.from_broker}"
        receiver = f" to broker {self.broker_id}" if self.broker_id is not None else ""
        text = f"{clock}.{self.time_ms % 1000:03} {self.api.name} v{self.version} of {sender}{receiver}"
        topics = f" {', '.join(self.topics)}" if self.topics else ""
        return f"{text}{topics}{f'  ← {self.fault}' if self.fault else ''}"


@dataclass
class RequestLog:
    """The clients' requests in order of arrival; the oldest are dropped if there are too many.

    Requests that the broker rejects unread (an unsupported API or version) are not included::

    cluster.requests.of("Produce")[-1].body.acks
    cluster.requests.wait_for("Fetch", count=2)
    """

    max_requests: int = MAX_REQUESTS
    max_bytes: int = MAX_BYTES
    _seen: deque[SeenRequest] = field(default_factory=deque)
    _bytes: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def add(
        self,
        key: ApiKey,
        request: Request,
        time_ms: int,
        *,
        broker_id: int | None = None,
        from_broker: int | None = None,
    ) -> SeenRequest:
        """Log a received request."""
        seen = SeenRequest(
            key,
            request.header.api_version,
            request.header.client_id,
            request.body,
            request.connection_id,
            request.size_in_bytes,
            time_ms,
            broker_id,
            from_broker,
        )
        self.append(seen)
        return seen

    def append(self, seen: SeenRequest) -> None:
        """Log a request that another log has, too."""
        with self._changed:
            self._seen.append(seen)
            self._bytes += seen.size_in_bytes
            while len(self._seen) > self.max_requests or (self._bytes > self.max_bytes and len(self._seen) > 1):
                self._bytes -= self._seen.popleft().size_in_bytes
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._seen)

    def __iter__(self) -> Iterator[SeenRequest]:
        with self._changed:
            return iter(list(self._seen))

    def of(self, api: Api, where: Callable[[SeenRequest], Any] | None = None) -> list[SeenRequest]:
        """The requests of one API, optionally only those for which ``where`` is true."""
        check_function("where", where, "of('Produce', where=lambda seen: seen.client_id == 'shop')")
        key = api_key(api)
        return [seen for seen in self if seen.api is key and (where is None or where(seen))]

    def wait_for(
        self, api: Api, count: int = 1, timeout_s: float = 10, where: Callable[[SeenRequest], Any] | None = None
    ) -> list[SeenRequest]:
        """Wait until ``count`` requests of an API have arrived since the last ``clear`` and return them all.

        Raises TimeoutError, whose text shows what arrived instead.
        """
        check_whole_number("count", count, "wait_for('Produce', count=2, where=lambda seen: seen.client_id == 'shop')")
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while len(found := self.of(api, where)) < count:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(
                        f"{len(found)} of {count} {api_key(api).name} requests within {timeout_s:g} s; "
                        f"the last requests:\n{self.tail() or '  none'}"
                    )
                self._changed.wait(left)
        return found

    def tail(self, count: int = 20) -> str:
        """The last requests as text, one per line."""
        seen = list(self)
        omitted = [f"  … {len(seen) - count} before"] if len(seen) > count else []
        return "\n".join(omitted + [f"  {request}" for request in seen[-count:]])

    def clear(self) -> None:
        """Remove all requests."""
        with self._changed:
            self._seen.clear()
            self._bytes = 0
