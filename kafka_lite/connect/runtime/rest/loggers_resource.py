"""``/admin/loggers``: the levels of loggers, which can be changed while the workers run (KIP-495, KIP-976).

Kafka 3.9: connect/runtime/.../connect/runtime/rest/resources/LoggingResource.java,
runtime/rest/entities/LoggerLevel.java · book 8.3.1
"""

from __future__ import annotations

import logging
from http import HTTPStatus

from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.common.process import log_levels
from kafka_lite.connect.api.errors import NotFoundError
from kafka_lite.connect.runtime.herder import Herder
from kafka_lite.connect.runtime.herder_errors import BadRequestError
from kafka_lite.connect.runtime.rest.entities import parse_json
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError
from kafka_lite.connect.runtime.rest.rest_messages import json_response
from kafka_lite.connect.runtime.rest.routed_request import RoutedRequest

logger = logging.getLogger(__name__)

WORKER_SCOPE, CLUSTER_SCOPE = "worker", "cluster"


class LoggersResource:
    """Each method answers one kind of request."""

    def __init__(self, herder: Herder) -> None:
        self._herder = herder

    def list_loggers(self, request: RoutedRequest) -> HttpResponse:  # noqa: ARG002  as all of them
        """All loggers with their effective levels, under log4j's names."""
        return json_response({name: _level_json(*each) for name, each in self._herder.logger_levels().items()})

    def get_logger(self, request: RoutedRequest) -> HttpResponse:
        """The effective level of a logger."""
        found = self._herder.logger_levels().get(request.logger)
        if found is None:
            raise NotFoundError(f"Logger {request.logger} not found.")
        return json_response(_level_json(*found))

    def set_level(self, request: RoutedRequest) -> HttpResponse:
        """Set the level of a logger and of all below it, on this worker: the answer has their names. With
        ``?scope=cluster`` on all workers, soon."""
        value = parse_json(request.body)
        level = value.get("level") if isinstance(value, dict) else None
        if not isinstance(level, str):
            raise BadRequestError("Desired 'level' parameter was not specified in request.")
        if level.upper() not in log_levels.LEVELS:
            raise ConnectRestError(HTTPStatus.NOT_FOUND, f"invalid log level '{level}'.")
        scope = request.query.get("scope", [WORKER_SCOPE])[0]
        if scope.lower() == CLUSTER_SCOPE:
            self._herder.set_cluster_logger_level(request.logger, level)
            return HttpResponse(HTTPStatus.NO_CONTENT)
        if scope.lower() != WORKER_SCOPE:
            logger.warning("Received invalid scope '%s' in request to adjust logging level; it is taken for '%s'",
                           scope, WORKER_SCOPE)  # fmt: skip
        return json_response(self._herder.set_worker_logger_level(request.logger, level))


def _level_json(level: str, last_modified: int | None) -> dict[str, str | int | None]:
    return {"level": level, "last_modified": last_modified}
