"""A client's request and its outcome.

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
"""Called once, in the polling thread, with the response or the reason why there is none."""


@dataclass(frozen=True)
class RequestBuilder:
    """Builds a request once the version for its broker is known.

    ``build`` raises UnsupportedVersionError if the request cannot be expressed in that version.
    """

    api_key: ApiKey
    build: Callable[[int], Request]
    oldest_version: int
    latest_version: int

    @classmethod
    def of(
        cls, request: Request, oldest_version: int | None = None, latest_version: int | None = None
    ) -> RequestBuilder:
        """For a request that is the same in every version. Without limits, any version of the codec may be used."""
        return cls.by(request.API_KEY, lambda _version: request, oldest_version, latest_version)

    @classmethod
    def by(
        cls,
        api_key: ApiKey,
        build: Callable[[int], Request],
        oldest_version: int | None = None,
        latest_version: int | None = None,
    ) -> RequestBuilder:
        """For a request that depends on its version. Without limits, any version of the codec may be used."""
        spec = API_SPECS[api_key]
        oldest = spec.min_version if oldest_version is None else oldest_version
        latest = spec.max_version if latest_version is None else latest_version
        return cls(api_key, build, oldest, latest)


@dataclass(frozen=True)
class ClientRequest:
    """A request to one broker, before its version is chosen. Created by ``NetworkClient.new_client_request``."""

    destination: str
    """The broker's id, as used for connections."""
    builder: RequestBuilder
    correlation_id: int
    client_id: str
    created_time_ms: float
    expect_response: bool = True
    """False for a produce request with acks=0, which is complete once it is sent."""
    callback: RequestCompletionHandler | None = None
    request_timeout_ms: float | None = None
    """A longer timeout for a response that may take long, such as that of JoinGroup; None for the client's default."""


@dataclass(frozen=True)
class ClientResponse:
    """The outcome of a request: a response, a lost connection, or a version that the broker lacks."""

    api_key: ApiKey
    api_version: int
    """-1 if no common version was found."""
    correlation_id: int
    destination: str
    created_time_ms: float
    received_time_ms: float
    was_disconnected: bool = False
    version_mismatch: UnsupportedVersionError | None = None
    response: Response | None = None
    """None if there is no response, even if none was expected."""
    callback: RequestCompletionHandler | None = None

    @property
    def request_latency_ms(self) -> float:
        """The time from the creation of the request to its completion, ms."""
        return self.received_time_ms - self.created_time_ms

    def on_complete(self) -> None:
        """Call the callback, if there is one."""
        if self.callback is not None:
            self.callback(self)
