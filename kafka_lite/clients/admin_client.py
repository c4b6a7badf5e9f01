"""Sends single requests to brokers and waits for their responses, for programs that are neither producer nor consumer.

Kafka 0.10.2: core/.../admin/AdminClient.scala (send, sendAnyNode); since 0.11
clients/.../clients/admin/AdminClientConfig.java · book 7.3.2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from kafka_lite.clients.bootstrap_servers import BOOTSTRAP_SERVERS
from kafka_lite.clients.client_utils import parse_and_validate_addresses
from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Range, Type
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.security.channel_builders import CLIENT_SECURITY_CONFIG, client_channel_builder

ADMIN_CONFIG = (
    ConfigDef()
    .define(BOOTSTRAP_SERVERS, Type.LIST, NO_DEFAULT, Importance.HIGH, "Brokers to connect to first, host:port each.")
    .define("client.id", Type.STRING, "kafka-lite-admin", Importance.MEDIUM, "Client id shown in the broker's log.")
    .define("request.timeout.ms", Type.INT, 30_000, Importance.MEDIUM, "How long to wait, ms.", Range.at_least(0))
    .include(CLIENT_SECURITY_CONFIG)
)
"""The keys of an admin client that have an effect."""

_ANY = 1 << 15
_LAST_METADATA_VERSION = 4
"""With the controller, and all topics by their names."""
Address = tuple[str, int]
R = TypeVar("R", bound=Response)


class AdminClient:
    """Opens a connection for each request, since its callers send few of them.

    All connections are protected as ``security.protocol`` and the keys of TLS and SASL say. Each call raises
    ConnectionError if no broker responds, AuthenticationError if one end does not accept the other, and ApiError
    (UNSUPPORTED_VERSION) if the broker is too old. ``max_version`` is the last version that the caller can write and
    read, ``min_version`` the first that can say what it asks for.
    """

    def __init__(self, configs: Mapping[str, object], time: Time = SYSTEM_TIME) -> None:
        """Takes the keys of ADMIN_CONFIG; others are of no concern here. Raises ConfigError."""
        config = ADMIN_CONFIG.parse({key: value for key, value in configs.items() if key in ADMIN_CONFIG})
        self._bootstrap = parse_and_validate_addresses(config[BOOTSTRAP_SERVERS])
        self._client_id = config["client.id"]
        self._timeout_ms = config["request.timeout.ms"]
        self._security = client_channel_builder(config, self._client_id, time)

    def send_any_node(self, request: Request, response_class: type[R], max_version: int = _ANY) -> R:
        """The response of the first of the ``bootstrap.servers`` that has one."""
        failure: Exception = ConnectionError("no bootstrap.servers")
        for address in self._bootstrap:
            try:
                return self.send(address, request, response_class, max_version)
            except AuthenticationError:
                raise
            except ConnectionError as error:
                failure = error
        raise failure

    def send(
        self,
        address: Address,
        request: Request,
        response_class: type[R],
        max_version: int = _ANY,
        *,
        min_version: int = 0,
    ) -> R:
        """The response of the broker at an address."""
        channel = BlockingChannel(
            *address, client_id=self._client_id, read_timeout_ms=self._timeout_ms, security=self._security
        )
        with channel:
            supported = channel.exchange(ApiVersionsRequest(), 0)
            assert isinstance(supported, ApiVersionsResponse)
            spec = API_SPECS[request.API_KEY]
            highest = {key.api_key: key.max_version for key in supported.api_keys}.get(request.API_KEY, -1)
            version = min(highest, spec.max_version, max_version)
            if version < max(spec.min_version, min_version):
                wanted = f"{request.API_KEY.name} {min_version or ''}".rstrip()
                text = f"The broker {address[0]}:{address[1]} is too old for {wanted}"
                raise Errors.UNSUPPORTED_VERSION.exception(text)
            response = channel.exchange(request, version)
        assert isinstance(response, response_class)
        return response


def describe_cluster(client: AdminClient) -> MetadataResponse:
    """All topics, the live brokers, and the controller, from any broker. Raises as ``AdminClient`` does."""
    return client.send_any_node(MetadataRequest(topics=None), MetadataResponse, _LAST_METADATA_VERSION)


def controller_of(cluster: MetadataResponse) -> Address | None:
    """Where the controller is reached; None if there is none at the moment."""
    return next(((each.host, each.port) for each in cluster.brokers if each.node_id == cluster.controller_id), None)
