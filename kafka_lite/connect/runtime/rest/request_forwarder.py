"""Waits for the herder, and asks another worker if only that one can do what was requested.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/resources/ConnectorsResource.java (completeOrForwardRequest),
runtime/rest/RestServer.java (httpRequest) · book 8.3.4
"""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from kafka_lite.connect.runtime.herder_errors import RebalanceNeededError, RequestTargetError
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError
from kafka_lite.connect.runtime.rest.rest_messages import JSON_TYPE

logger = logging.getLogger(__name__)

T = TypeVar("T")

REQUEST_TIMEOUT_S = 90.0
"""How long a client waits for the herder: longer than a rebalance, which takes a minute at most."""


@dataclass(frozen=True)
class Forwardable:
    """A request that another worker may have to answer."""

    method: str
    path: str
    body: object = None
    """To be written as JSON."""
    forward: bool | None = None
    """The flag of the request: None if it comes from a user. The first worker that forwards it says true,
    the second one false: after two hops the right worker should have been found."""
    query: Mapping[str, str] = field(default_factory=dict)
    """The other parameters of the request."""


@dataclass(frozen=True)
class ForwardedAnswer:
    """The answer of the other worker."""

    status: HTTPStatus
    value: Any


SendRequest = Callable[[str, str, object], ForwardedAnswer]
"""URL, method and body -> the answer. Raises ConnectRestError."""


class RequestForwarder:
    """Completes requests."""

    def __init__(self, send: SendRequest | None = None, timeout_s: float = REQUEST_TIMEOUT_S) -> None:
        self._send = send or http_request
        self._timeout_s = timeout_s

    def complete(self, future: Future[T], request: Forwardable) -> T | ForwardedAnswer:
        """The herder's result, or another worker's answer. Raises ConnectError, and what the herder raised."""
        try:
            return future.result(self._timeout_s)
        except RequestTargetError as error:
            return self._forward(error.forward_url, request)
        except RebalanceNeededError as error:
            raise ConnectRestError(
                HTTPStatus.CONFLICT,
                "Cannot complete request momentarily due to stale configuration "
                "(typically caused by a concurrent config change)",
            ) from error
        except TimeoutError as error:
            if future.done():  # the herder's own
                raise
            raise ConnectRestError(HTTPStatus.INTERNAL_SERVER_ERROR, "Request timed out") from error

    def _forward(self, worker_url: str, request: Forwardable) -> ForwardedAnswer:
        if request.forward is False:
            raise ConnectRestError(
                HTTPStatus.CONFLICT,
                "Cannot complete request because of a conflicting operation (e.g. worker rebalance)",
            )
        again = "true" if request.forward is None else "false"
        query = urlencode({"forward": again, **request.query})
        url = f"{worker_url.rstrip('/')}{request.path}?{query}"
        logger.debug("Forwarding request %s %s", url, request.method)
        return self._send(url, request.method, request.body)


def http_request(url: str, method: str, body: object = None, timeout_s: float = REQUEST_TIMEOUT_S) -> ForwardedAnswer:
    """Ask another worker. Raises ConnectRestError: with the other worker's status, or 500 if it cannot be reached."""
    target = urlsplit(url)
    headers = {"User-Agent": "kafka-connect", "Accept": JSON_TYPE}
    payload = None if body is None else json.dumps(body).encode()
    if payload is not None:
        headers["Content-Type"] = JSON_TYPE
    path = f"{target.path}?{target.query}" if target.query else target.path
    try:
        connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=timeout_s)
        try:
            connection.request(method, path, payload, headers)
            response = connection.getresponse()
            return _answer(response.status, response.read())
        finally:
            connection.close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise ConnectRestError(
            HTTPStatus.INTERNAL_SERVER_ERROR, f"IO Error trying to forward REST request: {error}"
        ) from error


def _answer(status: int, body: bytes) -> ForwardedAnswer:
    """Raises ConnectRestError, and ValueError if the answer is not JSON."""
    if status >= HTTPStatus.BAD_REQUEST:
        message = json.loads(body)
        text = message.get("message") if isinstance(message, dict) else None
        raise ConnectRestError(HTTPStatus(status), str(text or body.decode(errors="replace")))
    if status == HTTPStatus.NO_CONTENT:
        return ForwardedAnswer(HTTPStatus.NO_CONTENT, None)
    if status >= HTTPStatus.MULTIPLE_CHOICES or status < HTTPStatus.OK:
        raise ConnectRestError(
            HTTPStatus.INTERNAL_SERVER_ERROR, f"Unexpected status code when handling forwarded request: {status}"
        )
    return ForwardedAnswer(HTTPStatus(status), json.loads(body) if body else None)
