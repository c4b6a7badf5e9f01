"""Requests and responses of a REST interface, as values: what answers them knows no sockets.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/RestServer.java, and JAX-RS · book 8.3.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from kafka_lite.common.errors import KafkaError


@dataclass(frozen=True)
class HttpRequest:
    """A request of a client. Names of headers are in lower case."""

    method: str
    target: str
    """Path and query: ``/connectors?forward=true``."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True)
class HttpResponse:
    """The answer to a request."""

    status: HTTPStatus
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class HttpRequestError(KafkaError):
    """A request that the server refuses before anybody looks at it."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status
