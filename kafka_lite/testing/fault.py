"""A fault: what goes wrong, for which requests, and how often.

Kafka 0.10.2: clients/.../test/.../MockClient.java · book 2.1.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol, Self

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.error_responses import error_response
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.testing.arguments import check_function, check_name, check_number, check_whole_number, id_of
from kafka_lite.testing.request_log import Api, api_key

FOR_EVER = -1
BROKERS_ONLY = frozenset(
    {
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.WRITE_TXN_MARKERS,
    }
)
"""The APIs that only brokers call."""


class HasId(Protocol):
    """A broker of a cluster."""

    id: int


class Ending(Enum):
    """How a request affected by a fault ends."""

    RESPONSE = "handled as usual"
    ERROR = "error response"
    DROP_REQUEST = "request dropped, connection closed"
    DROP_RESPONSE = "handled, response dropped, connection closed"
    CUT_RESPONSE = "handled, response cut off, connection closed"
    SLOW_RESPONSE = "handled, slow response"
    NO_RESPONSE = "handled, no response"


class Fault:
    """One fault, created by ``cluster.inject``.

    First call what happens and to which requests, in any order, then how often; only the last puts it in force::

        cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).for_topic("orders", partition=0).times(2)
        cluster.inject("Produce").drop_response().once()
        with cluster.inject("Fetch").delay(200).from_client("billing").always():
            ...

    As a context manager, it ends with the block.
    """

    def __init__(
        self, api: Api | None, error: Errors | None, arm: Callable[[Fault], None], disarm: Callable[[Fault], None]
    ) -> None:
        self.api: ApiKey | None = None if api is None else api_key(api)
        if error is Errors.NONE:
            raise ValueError("Errors.NONE is not an error: call inject(api) without an error, then say what happens")
        self.error = error
        self.ending = Ending.RESPONSE if error is None else Ending.ERROR
        self.delay_ms = 0.0
        self.response_delay_ms = 0.0
        self.cut_after_bytes: int | None = None
        self.bytes_per_s = 0.0
        self.count = 0
        """Number of requests affected so far."""
        self._topic: str | None = None
        self._partition: int | None = None
        self._client_id: str | None = None
        self._broker_id: int | None = None
        self._predicates: list[Callable[[RequestHeader, Any], Any]] = []
        self._skip = 0
        self._left: int | None = None
        self._arm = arm
        self._disarm = disarm
        self._met = threading.Condition()

    # ── what happens ──────────────────────────────────────────────────────────────────────────────────────────────

    def delay(self, ms: float) -> Self:
        """Delay the request before it is handled or anything else happens to it."""
        self.delay_ms = _not_negative(ms, "a delay")
        return self

    def delay_response(self, ms: float) -> Self:
        """Handle the request immediately but delay the response."""
        self.response_delay_ms = _not_negative(ms, "a delay")
        return self

    def drop_request(self) -> Self:
        """Close the connection instead of handling the request, as if the request was lost."""
        return self._end_with(Ending.DROP_REQUEST)

    def drop_response(self) -> Self:
        """Handle the request, then close the connection instead of responding: the client cannot know the outcome."""
        return self._end_with(Ending.DROP_RESPONSE)

    def cut_response(self, after_bytes: int | None = None) -> Self:
        """Handle the request, send the first bytes of the response (by default half of it), and close the connection.

        The four bytes of the frame's size do not count: they are always sent.
        """
        self.cut_after_bytes = None if after_bytes is None else int(_not_negative(after_bytes, "a number of bytes"))
        return self._end_with(Ending.CUT_RESPONSE)

    def slow_response(self, bytes_per_s: float) -> Self:
        """Handle the request, then send the response slowly."""
        check_number("a rate", bytes_per_s, "slow_response(bytes_per_s=100)")
        if bytes_per_s <= 0:
            raise ValueError("a response at no bytes per second never arrives: use no_response()")
        self.bytes_per_s = bytes_per_s
        return self._end_with(Ending.SLOW_RESPONSE)

    def no_response(self) -> Self:
        """Handle the request but send no response; the connection stays open."""
        return self._end_with(Ending.NO_RESPONSE)

    def _end_with(self, ending: Ending) -> Self:
        if self.ending is not Ending.RESPONSE:
            raise ValueError(f"this fault is {self.ending.value!r} already, it cannot also be {ending.value!r}")
        self.ending = ending
        return self

    # ── which requests ────────────────────────────────────────────────────────────────────────────────────────────

    def for_topic(self, topic: str, partition: int | None = None) -> Self:
        """Only requests that name the topic (and partition). An error then fails only that item."""
        check_name("a topic", topic, "for_topic('orders')")
        if partition is not None:
            check_whole_number("a partition", partition, "for_topic('orders', partition=0)")
        self._topic, self._partition = topic, partition
        return self

    def from_client(self, client_id: str) -> Self:
        """Only requests from clients with this client.id."""
        check_name("a client.id", client_id, "from_client('billing')")
        self._client_id = client_id
        return self

    def from_broker(self, broker_id: int | HasId) -> Self:
        """Only requests that another broker of the cluster sends, such as a follower's Fetch. The broker or its id.

        Without this, a fault affects clients' requests, and those requests that only brokers send.
        """
        self._broker_id = id_of(broker_id)
        return self

    def when(self, predicate: Callable[[RequestHeader, Any], Any]) -> Self:
        """Only requests for which ``predicate(header, body)`` is true; both are messages of ``kafka_lite.protocol``."""
        check_function("a condition", predicate, "when(lambda header, body: body.acks == -1)")
        self._predicates.append(predicate)
        return self

    def skip(self, count: int) -> Self:
        """Do not affect the first ``count`` matching requests."""
        self._skip = int(_not_negative(count, "a number of requests"))
        return self

    # ── how often ─────────────────────────────────────────────────────────────────────────────────────────────────

    def once(self) -> Self:
        """Affect the next matching request."""
        return self.times(1)

    def times(self, count: int) -> Self:
        """Affect the next ``count`` matching requests."""
        check_whole_number("a number of times", count, "times(2)")
        if count < 1:
            raise ValueError(f"a fault that happens {count} times never happens")
        return self._put_into_force(count)

    def always(self) -> Self:
        """Affect all matching requests until ``remove`` or the end of the test."""
        return self._put_into_force(FOR_EVER)

    def _put_into_force(self, count: int) -> Self:
        if self._left is not None:
            raise ValueError("this fault is already in force: inject another one")
        if self.ending is Ending.RESPONSE and not self.delay_ms and not self.response_delay_ms:
            raise ValueError(
                "this fault does nothing yet: pass an error, or call delay(), drop_request(), drop_response(), …"
            )
        self._left = count
        self._arm(self)
        return self

    @property
    def not_in_force(self) -> str:
        """The message for a fault whose last call was forgotten."""
        return f"not in force: {self}; end it with .once(), .times(n) or .always()"

    def remove(self) -> None:
        """End the fault."""
        self._disarm(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def wait(self, count: int = 1, timeout_s: float = 10) -> None:
        """Wait until it has affected ``count`` requests. Raises TimeoutError, and ValueError if it is not in force."""
        if self._left is None:
            raise ValueError(self.not_in_force)
        with self._met:
            if not self._met.wait_for(lambda: self.count >= count, timeout_s):
                raise TimeoutError(f"{self} affected {self.count} of {count} requests within {timeout_s:g} s")

    # ── called by the broker ──────────────────────────────────────────────────────────────────────────────────────

    def takes(self, key: ApiKey, header: RequestHeader, body: Any, sender: int | None = None) -> bool:
        """Whether the fault affects this request, and if so, counts it. ``sender`` is the broker that has sent it."""
        if not self._concerns_sender(key, sender) or not self._concerns(key, header, body):
            return False
        with self._met:
            if self._skip:
                self._skip -= 1
                return False
            if self._left == 0:
                return False
            self._left = FOR_EVER if self._left == FOR_EVER else (self._left or 0) - 1
            self.count += 1
            self._met.notify_all()
            return True

    def _concerns_sender(self, key: ApiKey, sender: int | None) -> bool:
        if self._broker_id is not None:
            return sender == self._broker_id
        return sender is None or (key in BROKERS_ONLY and self.api == key)

    def _concerns(self, key: ApiKey, header: RequestHeader, body: Any) -> bool:
        if self.api not in (None, key) or self._client_id not in (None, header.client_id):
            return False
        if self._topic is not None and not self._names_topic(header, body):
            return False
        return all(predicate(header, body) for predicate in self._predicates)

    def _names_topic(self, header: RequestHeader, body: Any) -> bool:
        """Whether the request has an item to fail, determined by building the error response."""
        if header.api_key == ApiKey.METADATA:  # null topics means all topics
            return body.topics is None or any(topic.name == self._topic for topic in body.topics)
        return error_response(body, header.api_version, Errors.UNKNOWN_SERVER_ERROR, self.selects).response is not None

    @property
    def is_partial(self) -> bool:
        """Whether the fault applies to one topic instead of the whole request."""
        return self._topic is not None

    def selects(self, topic: str | None, partition: int | None) -> bool:
        """Whether the fault applies to a request's item."""
        if self._topic is None:
            return True
        return topic == self._topic and self._partition in (None, partition)

    def __str__(self) -> str:
        api = "any request" if self.api is None else self.api.name
        what = self.error.name if self.error is not None else self.ending.value
        delays = [f"delayed by {self.delay_ms:g} ms"] * bool(self.delay_ms)
        delays += [f"response delayed by {self.response_delay_ms:g} ms"] * bool(self.response_delay_ms)
        topic = f" of {self._topic}" if self._topic is not None else ""
        topic += f"-{self._partition}" if self._partition is not None else ""
        return f"{api}{topic}: {', '.join([*delays, what])}"

    __repr__ = __str__


def _not_negative(value: float, what: str) -> float:
    check_number(what, value, "delay(ms=100), cut_response(after_bytes=10), skip(1)")
    if value < 0:
        raise ValueError(f"{what} cannot be {value:g}")
    return value
