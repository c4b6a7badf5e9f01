"""A request of a client, and what became of it.

Kafka 0.10.2: clients/.../clients/ClientRequest.java, ClientResponse.java, RequestCompletionHandler.java · book 2.1.3
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.protocol.schema_error import UnsupportedVersionError

RequestCompletionHandler = Callable[["ClientResponse"], None]
"""Called once, in the thread that polls: with the answer, or with the reason why there is none."""


@dataclass(frozen=True)
class RequestBuilder:
    """Makes a request when it is known which version the broker will get.

    ``build`` raises UnsupportedVersionError when what it has to say cannot be said in that version.
    """

    api_key: ApiKey
    build: Callable[[int], Request]
    oldest_version: int
    latest_version: int

    @classmethod
    def of(
        cls, request: Request, oldest_version: int | None = None, latest_version: int | None = None
    ) -> RequestBuilder:
        """For a request that is the same in every version; without limits, all that the codec knows."""
        return cls.by(request.API_KEY, lambda _version: request, oldest_version, latest_version)

    @classmethod
    def by(
        cls,
        api_key: ApiKey,
        build: Callable[[int], Request],
        oldest_version: int | None = None,
        latest_version: int | None = None,
    ) -> RequestBuilder:
        """For a request that is made by its version; without limits, any that the codec knows."""
        spec = API_SPECS[api_key]
        oldest = spec.min_version if oldest_version is None else oldest_version
        latest = spec.max_version if latest_version is None else latest_version
        return cls(api_key, build, oldest, latest)


@dataclass(frozen=True)
class ClientRequest:
    """A request to one broker, before its version is chosen. ``NetworkClient.new_client_request`` makes them."""

    destination: str
    """Id of the broker, as connections are named."""
    builder: RequestBuilder
    correlation_id: int
    client_id: str
    created_time_ms: float
    expect_response: bool = True
    """False for a produce request with acks=0: it is over when it is sent."""
    callback: RequestCompletionHandler | None = None
    request_timeout_ms: float | None = None
    """For an answer that may take longer than those to other requests, as that to a JoinGroup."""


@dataclass(frozen=True)
class ClientResponse:
    """The end of a request: an answer, a lost connection, or a version that the broker does not have."""

    api_key: ApiKey
    api_version: int
    """-1 when none was found."""
    correlation_id: int
    destination: str
    created_time_ms: float
    received_time_ms: float
    was_disconnected: bool = False
    version_mismatch: UnsupportedVersionError | None = None
    response: Response | None = None
    """None without an answer; also when none was expected."""
    callback: RequestCompletionHandler | None = None

    @property
    def request_latency_ms(self) -> float:
        """From the making of the request to its end."""
        return self.received_time_ms - self.created_time_ms

    def on_complete(self) -> None:
        """Tell whoever sent it."""
        if self.callback is not None:
            self.callback(self)
