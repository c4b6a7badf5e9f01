"""``/admin/loggers``: the levels of a worker's loggers, which can be changed while it runs (KIP-495).

Kafka 3.9: connect/runtime/.../connect/runtime/rest/resources/LoggingResource.java, runtime/Loggers.java · book 8.3.1
"""

from __future__ import annotations

from http import HTTPStatus

from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.common.process import log_levels
from kafka_lite.connect.api.errors import NotFoundError
from kafka_lite.connect.runtime.herder_errors import BadRequestError
from kafka_lite.connect.runtime.rest.entities import parse_json
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError
from kafka_lite.connect.runtime.rest.rest_messages import json_response
from kafka_lite.connect.runtime.rest.routed_request import RoutedRequest


def list_loggers(request: RoutedRequest) -> HttpResponse:  # noqa: ARG001  as all of them
    """All loggers with their effective levels, under log4j's names."""
    return json_response({name: {"level": level} for name, level in log_levels.loggers().items()})


def get_logger(request: RoutedRequest) -> HttpResponse:
    """The effective level of a logger."""
    level = log_levels.loggers().get(request.logger)
    if level is None:
        raise NotFoundError(f"Logger {request.logger} not found.")
    return json_response({"level": level})


def set_logger_level(request: RoutedRequest) -> HttpResponse:
    """Set the level of a logger on this worker; the answer has all loggers that it applies to.

    In Python those below it inherit its level, unless they have one of their own.
    """
    value = parse_json(request.body)
    level = value.get("level") if isinstance(value, dict) else None
    if not isinstance(level, str):
        raise BadRequestError("Desired 'level' parameter was not specified in request.")
    if level.upper() not in log_levels.LEVELS:
        raise ConnectRestError(HTTPStatus.NOT_FOUND, f"invalid log level '{level}'.")
    if not log_levels.logger_exists(request.logger):
        raise NotFoundError(f"Logger {request.logger} not found.")
    before = log_levels.loggers()
    log_levels.set_level(request.logger, level.upper())
    after = log_levels.loggers()
    return json_response(sorted({request.logger, *(name for name in after if after[name] != before.get(name))}))
