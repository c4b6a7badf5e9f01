"""Responses of the REST interface: JSON, and errors.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/entities/ErrorMessage.java, and JAX-RS · book 8.3.1
"""

from __future__ import annotations

import json
from http import HTTPStatus

from kafka_lite.common.http.http_messages import HttpResponse

JSON_TYPE = "application/json"


def json_response(value: object, status: HTTPStatus = HTTPStatus.OK, **headers: str) -> HttpResponse:
    """A response whose body is JSON."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # A client may have sent half of a surrogate pair, as \ud800, which UTF-8 does not have.
    return HttpResponse(status, text.encode(errors="replace"), {"Content-Type": JSON_TYPE, **headers})


def error_response(status: HTTPStatus, message: str, **headers: str) -> HttpResponse:
    """A response that names an error."""
    return json_response({"error_code": int(status), "message": message}, status, **headers)


def jax_rs_message(status: HTTPStatus) -> str:
    """The message of JAX-RS for a request that it refuses: ``HTTP 404 Not Found``."""
    return f"HTTP {int(status)} {status.phrase}"
