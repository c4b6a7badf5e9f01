"""The answers to requests, or to parts of requests, that are not authorized.

Kafka 0.10.2: clients/.../common/requests/AbstractRequest.java (getErrorResponse) · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.error_responses import anything, error_response, merge_responses
from kafka_lite.protocol.messages.api_35_describe_log_dirs import DescribeLogDirsResponse
from kafka_lite.protocol.schema import Request as RequestMessage
from kafka_lite.protocol.schema import Response
from kafka_lite.server.apis.api_handler import Handler, Respond

IN_EACH_ITEM_TOO = frozenset(
    {ApiKey.ELECT_LEADERS, ApiKey.ALTER_PARTITION_REASSIGNMENTS, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS}
)
"""Requests whose refusal has the error twice."""
FIRST_JOIN_VERSION_WITH_NULLABLE_PROTOCOL = 7


def refused(request: Request, body: RequestMessage, error: Errors) -> Response:
    """The response to a request that is refused as a whole: the error is where Kafka 3.9 puts it."""
    if body.API_KEY is ApiKey.DESCRIBE_LOG_DIRS:
        return DescribeLogDirsResponse(error_code=error.code)  # before version 3 the client sees no directory
    if body.API_KEY in IN_EACH_ITEM_TOO:
        return _with_items(body, request.header.api_version, error)
    response: Any = error_response(body, request.header.api_version, error, None, error.message).response
    if response is None:
        return API_SPECS[body.API_KEY].response()  # a request of nothing has no errors
    _set_null(response, request.header.api_version)
    refusal: Response = response
    return refusal


def _set_null(response: Any, version: int) -> None:
    """Where Kafka has null for what was not looked up."""
    if response.API_KEY is ApiKey.JOIN_GROUP and version >= FIRST_JOIN_VERSION_WITH_NULLABLE_PROTOCOL:
        response.protocol_name = None
    elif response.API_KEY is ApiKey.DESCRIBE_CLIENT_QUOTAS:
        response.entries = None


def _with_items(body: RequestMessage, version: int, error: Errors) -> Response:
    """The error for the whole request and, once more, for each item."""
    spec = API_SPECS[body.API_KEY]
    response: Any = error_response(body, version, error, anything, error.message).response or spec.response()
    values = {"error_code": error.code, "error_message": error.message}
    for field in spec.response.FIELDS:
        if field.name in values and version in field.versions:
            setattr(response, field.name, values[field.name])
    if body.API_KEY is ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS:
        for each in response.results:
            each.user = ""  # Kafka leaves out the names
    made: Response = response
    return made


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
