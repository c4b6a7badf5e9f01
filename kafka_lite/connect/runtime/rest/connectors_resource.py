"""``/connectors``: all that can be done with connectors and tasks.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/resources/ConnectorsResource.java · book 8.3.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import quote

from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.connect.api.errors import NotFoundError
from kafka_lite.connect.runtime.connector_config import NAME
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorInfo, Created, Herder
from kafka_lite.connect.runtime.herder_errors import BadRequestError
from kafka_lite.connect.runtime.rest.entities import (
    connector_info_json,
    connector_state_json,
    parse_config,
    parse_configs,
    parse_create_request,
    parse_offsets,
    task_info_json,
    task_state_json,
)
from kafka_lite.connect.runtime.rest.request_forwarder import Forwardable, ForwardedAnswer, RequestForwarder
from kafka_lite.connect.runtime.rest.rest_messages import json_response
from kafka_lite.connect.runtime.rest.routed_request import RoutedRequest
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest

T = TypeVar("T")

NO_CONTENT = HttpResponse(HTTPStatus.NO_CONTENT)
ACCEPTED = HttpResponse(HTTPStatus.ACCEPTED)
EXPANSIONS = {"info", "status"}
NO_QUERY: Mapping[str, str] = MappingProxyType({})


class ConnectorsResource:
    """Each method answers one kind of request. Errors of the herder are raised."""

    def __init__(self, herder: Herder, forwarder: RequestForwarder) -> None:
        self._herder = herder
        self._forwarder = forwarder

    # ── connectors ────────────────────────────────────────────────────────────────────────────────────────────────

    def list_connectors(self, request: RoutedRequest) -> HttpResponse:
        """The names of all connectors. With ``?expand=status`` or ``info`` (KIP-465), what is known of each."""
        names = self._complete(self._herder.connectors(), request, list)
        kinds = set(request.query.get("expand", ())) & EXPANSIONS
        return json_response({name: self._expanded(name, kinds, request) for name in names} if kinds else names)

    def _expanded(self, name: str, kinds: set[str], request: RoutedRequest) -> dict[str, Any]:
        """Some of them may be missing: the connector may be new, or deleted in this moment."""
        found: dict[str, Any] = {}
        with suppress(NotFoundError):
            if "info" in kinds:
                found["info"] = self._complete(self._herder.connector_info(name), request, connector_info_json)
        with suppress(NotFoundError):
            if "status" in kinds:
                found["status"] = connector_state_json(self._herder.connector_status(name))
        return found

    def create_connector(self, request: RoutedRequest) -> HttpResponse:
        """Create a connector. The name of the request is added to the configuration if it has none."""
        name, config = parse_create_request(request.body)
        if "/" in name:
            raise BadRequestError("connector name should not contain '/'")
        config.setdefault(NAME, name)
        future = self._herder.put_connector_config(name, config, allow_replace=False)
        return self._created(name, future, request, {"name": name, "config": config})

    def get_connector(self, request: RoutedRequest) -> HttpResponse:
        """A connector with its configuration and the ids of its tasks."""
        future = self._herder.connector_info(request.connector)
        return json_response(self._complete(future, request, connector_info_json))

    def get_connector_config(self, request: RoutedRequest) -> HttpResponse:
        """The configuration of a connector."""
        return json_response(self._complete(self._herder.connector_config(request.connector), request, dict))

    def put_connector_config(self, request: RoutedRequest) -> HttpResponse:
        """Create a connector, or change it."""
        name, config = request.connector, parse_config(request.body)
        included = config.setdefault(NAME, name)
        if included != name:
            raise BadRequestError(
                f"Connector name configuration ({included}) doesn't match connector name in the URL ({name})"
            )
        future = self._herder.put_connector_config(name, config, allow_replace=True)
        return self._created(name, future, request, config)

    def get_connector_status(self, request: RoutedRequest) -> HttpResponse:
        """The statuses of a connector and of its tasks."""
        return json_response(connector_state_json(self._herder.connector_status(request.connector)))

    def get_active_topics(self, request: RoutedRequest) -> HttpResponse:
        """The topics that a connector uses (KIP-558)."""
        name = request.connector
        return json_response({name: {"topics": self._herder.connector_active_topics(name)}})

    def reset_active_topics(self, request: RoutedRequest) -> HttpResponse:
        """Forget which topics a connector uses: they come back with its next records (KIP-558)."""
        self._herder.reset_connector_active_topics(request.connector)
        return ACCEPTED

    def get_offsets(self, request: RoutedRequest) -> HttpResponse:
        """How far a connector has read (KIP-875)."""
        offsets = self._herder.connector_offsets(request.connector)
        return json_response({"offsets": [{"partition": each.partition, "offset": each.offset} for each in offsets]})

    def alter_offsets(self, request: RoutedRequest) -> HttpResponse:
        """Set how far a stopped connector has read (KIP-875)."""
        offsets = parse_offsets(request.body)
        body = {"offsets": [{"partition": partition, "offset": offset} for partition, offset in offsets]}
        return self._message(self._herder.alter_connector_offsets(request.connector, offsets), request, body)

    def reset_offsets(self, request: RoutedRequest) -> HttpResponse:
        """Forget how far a stopped connector has read (KIP-875)."""
        return self._message(self._herder.reset_connector_offsets(request.connector), request)

    def pause_connector(self, request: RoutedRequest) -> HttpResponse:
        """Pause a connector and its tasks, soon."""
        self._herder.pause_connector(request.connector)
        return ACCEPTED

    def stop_connector(self, request: RoutedRequest) -> HttpResponse:
        """Stop a connector: its tasks end, its configuration and its offsets stay (KIP-875)."""
        return self._done(self._herder.stop_connector(request.connector), request)

    def resume_connector(self, request: RoutedRequest) -> HttpResponse:
        """Resume a connector and its tasks, soon, or start a stopped one."""
        self._herder.resume_connector(request.connector)
        return ACCEPTED

    def restart_connector(self, request: RoutedRequest) -> HttpResponse:
        """Restart a connector, not its tasks. With ``?includeTasks=true`` or ``onlyFailed`` (KIP-745), those of both
        that the request means, soon: the answer has their statuses, RESTARTING for what is restarted."""
        flags = {"includeTasks": request.flag("includeTasks"), "onlyFailed": request.flag("onlyFailed")}
        restart = RestartRequest(request.connector, flags["onlyFailed"], flags["includeTasks"])
        if restart.is_plain:
            return self._done(self._herder.restart_connector(request.connector), request)
        query = {name: str(flag).lower() for name, flag in flags.items()}
        future = self._herder.restart_connector_and_tasks(restart)
        state = self._complete(future, request, connector_state_json, query=query)
        if state is None:  # the leader is a worker of 0.10.2, which has restarted the connector alone
            return NO_CONTENT
        return json_response(state, HTTPStatus.ACCEPTED)

    def destroy_connector(self, request: RoutedRequest) -> HttpResponse:
        """Delete a connector."""
        return self._done(self._herder.delete_connector_config(request.connector), request)

    # ── tasks ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def get_task_configs(self, request: RoutedRequest) -> HttpResponse:
        """The configurations of a connector's tasks."""
        future = self._herder.task_configs(request.connector)
        return json_response(self._complete(future, request, lambda infos: [task_info_json(each) for each in infos]))

    def put_task_configs(self, request: RoutedRequest) -> HttpResponse:
        """The worker that runs a connector tells the leader which tasks it wants."""
        configs = parse_configs(request.body)
        return self._done(self._herder.put_task_configs(request.connector, configs), request, configs)

    def get_task_status(self, request: RoutedRequest) -> HttpResponse:
        """The status of a task."""
        return json_response(task_state_json(self._herder.task_status(_task(request))))

    def restart_task(self, request: RoutedRequest) -> HttpResponse:
        """Restart a task."""
        return self._done(self._herder.restart_task(_task(request)), request)

    # ── completion ────────────────────────────────────────────────────────────────────────────────────────────────

    def _complete(
        self,
        future: Future[T],
        request: RoutedRequest,
        to_json: Callable[[T], Any],
        body: object = None,
        query: Mapping[str, str] = NO_QUERY,
    ) -> Any:
        """The result as JSON, of this worker or of another one, which is sent the ``query`` along."""
        found = self._forwarder.complete(future, _forwardable(request, body, query))
        return found.value if isinstance(found, ForwardedAnswer) else to_json(found)

    def _message(self, future: Future[str], request: RoutedRequest, body: object = None) -> HttpResponse:
        return json_response(self._complete(future, request, lambda text: {"message": text}, body))

    def _done(self, future: Future[Any], request: RoutedRequest, body: object = None) -> HttpResponse:
        self._forwarder.complete(future, _forwardable(request, body))
        return NO_CONTENT

    def _created(
        self, name: str, future: Future[Created[ConnectorInfo]], request: RoutedRequest, body: object
    ) -> HttpResponse:
        """The Location is at the worker that was asked, even if another one has created the connector."""
        found = self._forwarder.complete(future, _forwardable(request, body))
        if isinstance(found, ForwardedAnswer):
            created, value = found.status == HTTPStatus.CREATED, found.value
        else:
            created, value = found.created, None if found.result is None else connector_info_json(found.result)
        if not created:
            return json_response(value)
        return json_response(value, HTTPStatus.CREATED, Location=f"{request.base_url}connectors/{quote(name, safe='')}")


def _task(request: RoutedRequest) -> ConnectorTaskId:
    return ConnectorTaskId(request.connector, request.task)


def _forwardable(request: RoutedRequest, body: object, query: Mapping[str, str] = NO_QUERY) -> Forwardable:
    return Forwardable(request.method, request.path, body, request.forward, query)
