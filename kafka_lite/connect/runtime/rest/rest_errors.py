"""The HTTP status of each error.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/errors/ConnectExceptionMapper.java,
ConnectRestException.java · book 8.3.1
"""

from __future__ import annotations

import logging
from http import HTTPStatus

from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.connect.api.errors import AlreadyExistsError, ConnectError, NotFoundError
from kafka_lite.connect.runtime.herder_errors import BadRequestError, ForbiddenError
from kafka_lite.connect.runtime.rest.rest_messages import error_response

logger = logging.getLogger(__name__)


class ConnectRestError(ConnectError):
    """An error that knows its status."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


STATUSES: dict[type[ConnectError], HTTPStatus] = {
    NotFoundError: HTTPStatus.NOT_FOUND,
    AlreadyExistsError: HTTPStatus.CONFLICT,
    BadRequestError: HTTPStatus.BAD_REQUEST,
    ForbiddenError: HTTPStatus.FORBIDDEN,
}
"""Error -> status. All other errors are 500."""


def response_to(error: Exception) -> HttpResponse:
    """The response that tells the client. The log has the trace of an error that is not one of Connect."""
    if isinstance(error, ConnectRestError):
        return error_response(error.status, str(error))
    for kind, status in STATUSES.items():
        if isinstance(error, kind):
            return error_response(status, str(error))
    if isinstance(error, ConnectError):
        logger.debug("Uncaught exception in REST call", exc_info=error)
    else:
        logger.error("Uncaught exception in REST call", exc_info=error)
    return error_response(HTTPStatus.INTERNAL_SERVER_ERROR, str(error) or "Request failed.")
