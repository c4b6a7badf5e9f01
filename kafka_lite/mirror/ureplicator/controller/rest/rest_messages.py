"""Requests to the resources, and their responses: always of the type text.

uReplicator kafka-0.10.2.1: Restlet's StringRepresentation in uReplicator-Controller/.../controller/rest/resources ·
book 8.2.2
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from kafka_lite.common.http.http_messages import HttpResponse

TEXT_TYPE = "text/plain; charset=UTF-8"


@dataclass(frozen=True)
class RestRequest:
    """A request whose resource is found."""

    body: bytes = b""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of its path."""

    @property
    def topic(self) -> str | None:
        """The topic of the path."""
        return self.variables.get("topicName")


def text_response(text: str, status: HTTPStatus = HTTPStatus.OK, **headers: str) -> HttpResponse:
    """A text. Half of a surrogate pair, which JSON can express and UTF-8 not, becomes a question mark."""
    return HttpResponse(status, text.encode(errors="replace"), {"Content-Type": TEXT_TYPE, **headers})


def json_text(value: object) -> HttpResponse:
    """JSON as text."""
    return text_response(json.dumps(value, separators=(",", ":"), ensure_ascii=False))


def refusal(status: HTTPStatus, message: str) -> HttpResponse:
    """The response to a request that no resource sees."""
    return text_response(f"{int(status)} {status.phrase}: {message}\n", status)
