"""The answers to requests, or to parts of requests, that are not authorized.

Kafka 0.10.2: clients/.../common/requests/AbstractRequest.java (getErrorResponse) · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.error_responses import error_response, merge_responses
from kafka_lite.protocol.schema import Request as RequestMessage
from kafka_lite.protocol.schema import Response
from kafka_lite.server.apis.api_handler import Handler, Respond


def refused(request: Request, body: RequestMessage, error: Errors) -> Response:
    """The response to a request that is refused as a whole."""
    response = error_response(body, request.header.api_version, error, None, error.message).response
    return API_SPECS[body.API_KEY].response() if response is None else response  # a request of nothing has no errors


def handle_rest(
    request: Request, body: Any, respond: Respond, handler: Handler, error: Errors, names: Collection[str]
) -> None:
    """Refuse the items with these names, and let the handler do the rest."""
    if not names:
        handler(request, body, respond)
        return
    version = request.header.api_version
    partial = error_response(body, version, error, lambda name, _partition: name in names, error.message)
    failed = partial.response
    if failed is None:
        handler(request, body, respond)
    elif partial.rest is None:
        respond(failed)
    else:
        handler(request, partial.rest, with_refused(failed, version, respond))


def with_refused(failed: Response, version: int, respond: Respond) -> Respond:
    """Add the refused items to the handler's response."""

    def merged(response: Response | None) -> None:
        if response is not None:
            merge_responses(failed, response, version)
        respond(response)

    return merged


def changed(respond: Respond, change: Callable[[Any], None]) -> Respond:
    """Change the handler's response before it is sent."""

    def respond_changed(response: Response | None) -> None:
        if response is not None:
            change(response)
        respond(response)

    return respond_changed
