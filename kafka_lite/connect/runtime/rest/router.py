"""Finds the method that answers a request.

Kafka 0.10.2: JAX-RS' annotations Path, Consumes and Produces in connect/runtime/.../connect/runtime/rest/resources,
runtime/rest/RestServer.java (start) · book 8.3.1
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, unquote

from kafka_lite.common.http.http_messages import HttpRequest, HttpResponse
from kafka_lite.connect.runtime.herder import Herder
from kafka_lite.connect.runtime.rest.connector_plugins_resource import ConnectorPluginsResource
from kafka_lite.connect.runtime.rest.connectors_resource import ConnectorsResource
from kafka_lite.connect.runtime.rest.loggers_resource import LoggersResource
from kafka_lite.connect.runtime.rest.request_forwarder import RequestForwarder
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError, response_to
from kafka_lite.connect.runtime.rest.rest_messages import (
    JSON_TYPE,
    error_response,
    jax_rs_message,
)
from kafka_lite.connect.runtime.rest.root_resource import RootResource
from kafka_lite.connect.runtime.rest.routed_request import RoutedRequest

Answer = Callable[[RoutedRequest], HttpResponse]

_VARIABLES = {"connector": "[^/]+", "connectorType": "[^/]+", "logger": "[^/]+", "task": "[0-9]{1,9}"}


@dataclass(frozen=True)
class Route:
    """A row of the table. ``{connector}`` in its path stands for any name."""

    method: str
    path: str
    answer: Answer


def routes(herder: Herder, forwarder: RequestForwarder) -> list[Route]:
    """All that clients can ask for."""
    connectors, plugins = ConnectorsResource(herder, forwarder), ConnectorPluginsResource(herder)
    loggers, root = LoggersResource(herder), RootResource(herder)
    return [
        Route("GET", "/", root.server_info),
        Route("GET", "/connectors", connectors.list_connectors),
        Route("POST", "/connectors", connectors.create_connector),
        Route("GET", "/connectors/{connector}", connectors.get_connector),
        Route("DELETE", "/connectors/{connector}", connectors.destroy_connector),
        Route("GET", "/connectors/{connector}/config", connectors.get_connector_config),
        Route("PUT", "/connectors/{connector}/config", connectors.put_connector_config),
        Route("GET", "/connectors/{connector}/status", connectors.get_connector_status),
        Route("GET", "/connectors/{connector}/offsets", connectors.get_offsets),
        Route("PATCH", "/connectors/{connector}/offsets", connectors.alter_offsets),
        Route("DELETE", "/connectors/{connector}/offsets", connectors.reset_offsets),
        Route("GET", "/connectors/{connector}/topics", connectors.get_active_topics),
        Route("PUT", "/connectors/{connector}/topics/reset", connectors.reset_active_topics),
        Route("PUT", "/connectors/{connector}/pause", connectors.pause_connector),
        Route("PUT", "/connectors/{connector}/stop", connectors.stop_connector),
        Route("PUT", "/connectors/{connector}/resume", connectors.resume_connector),
        Route("POST", "/connectors/{connector}/restart", connectors.restart_connector),
        Route("GET", "/connectors/{connector}/tasks", connectors.get_task_configs),
        Route("POST", "/connectors/{connector}/tasks", connectors.put_task_configs),
        Route("GET", "/connectors/{connector}/tasks/{task}/status", connectors.get_task_status),
        Route("POST", "/connectors/{connector}/tasks/{task}/restart", connectors.restart_task),
        Route("GET", "/connector-plugins", plugins.list_connector_plugins),
        Route("PUT", "/connector-plugins/{connectorType}/config/validate", plugins.validate_configs),
        Route("GET", "/admin/loggers", loggers.list_loggers),
        Route("GET", "/admin/loggers/{logger}", loggers.get_logger),
        Route("PUT", "/admin/loggers/{logger}", loggers.set_level),
    ]


class Router:
    """Answers requests."""

    def __init__(self, table: Sequence[Route], advertised_url: str) -> None:
        self._table = [(re.compile(_pattern(route.path)), route) for route in table]
        self._advertised_url = advertised_url

    def answer(self, request: HttpRequest) -> HttpResponse:
        """The response, also to a request that is wrong or fails."""
        path, _, query = request.target.partition("?")
        matches = [(match, route) for pattern, route in self._table if (match := pattern.fullmatch(path))]
        if not matches:
            return _refusal(HTTPStatus.NOT_FOUND)
        allowed = _allowed([route.method for _, route in matches])
        if request.method == "OPTIONS":
            return HttpResponse(HTTPStatus.OK, headers={"Content-Type": JSON_TYPE, "Allow": allowed})
        method = "GET" if request.method == "HEAD" else request.method
        for match, route in matches:
            if route.method == method:
                variables = {name: unquote(value) for name, value in match.groupdict().items()}
                return self._call(route.answer, request, path, query, variables)
        return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, Allow=allowed)

    def _call(
        self, answer: Answer, request: HttpRequest, path: str, query: str, variables: dict[str, str]
    ) -> HttpResponse:
        if request.body and not _is_json(request.headers.get("content-type", "")):
            return _refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        if not _accepts_json(request.headers.get("accept", "*/*")):
            return _refusal(HTTPStatus.NOT_ACCEPTABLE)
        host = request.headers.get("host")
        base_url = f"http://{host}/" if host else self._advertised_url
        try:
            parameters = parse_qs(query)
            return answer(
                RoutedRequest(request.method, path, request.body, base_url, variables, _forward(parameters), parameters)
            )
        except Exception as error:  # noqa: BLE001  each error has an answer
            return response_to(error)


def _pattern(path: str) -> str:
    """The regular expression of a path; a slash at the end does not matter."""
    pattern = re.sub(r"\{(\w+)\}", lambda name: f"(?P<{name[1]}>{_VARIABLES[name[1]]})", path)
    return f"{pattern.rstrip('/')}/?"


def _allowed(methods: Sequence[str]) -> str:
    more = ["HEAD", "OPTIONS"] if "GET" in methods else ["OPTIONS"]
    return ",".join(sorted([*methods, *more]))


def _refusal(status: HTTPStatus, **headers: str) -> HttpResponse:
    return error_response(status, jax_rs_message(status), **headers)


def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == JSON_TYPE


def _accepts_json(accept: str) -> bool:
    """Whether a range of an Accept header includes JSON, with a quality above 0."""
    for each in accept.split(","):
        name, *parameters = (part.strip().lower().replace(" ", "") for part in each.split(";"))
        refused = any(re.fullmatch(r"q=0(\.0*)?", parameter) for parameter in parameters)
        if name in ("*/*", "application/*", JSON_TYPE) and not refused:
            return True
    return False


def _forward(parameters: Mapping[str, Sequence[str]]) -> bool | None:
    """The query's ``forward``. None if it has none. Raises ConnectRestError."""
    values = parameters.get("forward")
    if not values:
        return None
    if values[0].lower() not in ("true", "false"):
        raise ConnectRestError(HTTPStatus.NOT_FOUND, jax_rs_message(HTTPStatus.NOT_FOUND))
    return values[0].lower() == "true"
