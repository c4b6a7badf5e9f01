"""``/connector-plugins``: which connectors there are, and what their configurations need.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/resources/ConnectorPluginsResource.java · book 8.3.1
"""

from __future__ import annotations

from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.connect.runtime.connector_config import CONNECTOR_CLASS
from kafka_lite.connect.runtime.herder import Herder
from kafka_lite.connect.runtime.herder_errors import BadRequestError
from kafka_lite.connect.runtime.plugin_discovery import listed_connectors
from kafka_lite.connect.runtime.rest.entities import parse_config
from kafka_lite.connect.runtime.rest.rest_messages import json_response
from kafka_lite.connect.runtime.rest.routed_request import RoutedRequest

ALIAS_SUFFIX = "Connector"


class ConnectorPluginsResource:
    """Each method answers one kind of request. Errors of the herder are raised."""

    def __init__(self, herder: Herder) -> None:
        self._herder = herder

    def list_connector_plugins(self, request: RoutedRequest) -> HttpResponse:  # noqa: ARG002  as all of them
        """The classes of connectors, sorted; without those for tests of the runtime."""
        return json_response([{"class": name} for name in listed_connectors()])

    def validate_configs(self, request: RoutedRequest) -> HttpResponse:
        """Check a configuration. One with errors is answered 200: they are in the answer."""
        config = parse_config(request.body)
        included = config.get(CONNECTOR_CLASS)
        if included is not None and not _normalized(included).endswith(_normalized(request.connector_type)):
            raise BadRequestError(
                f"Included connector type {included} does not match request type {request.connector_type}"
            )
        return json_response(self._herder.validate_connector_config(config).to_json())


def _normalized(name: str) -> str:
    """Full names, simple names and aliases have the same end."""
    return name.removesuffix(ALIAS_SUFFIX) or name
