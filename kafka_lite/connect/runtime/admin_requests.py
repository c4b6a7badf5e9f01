"""Sends the few requests of a worker that neither a producer nor a consumer sends.

Kafka 1.0: clients/.../clients/admin/KafkaAdminClient.java · book 8.3.5
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from kafka_lite.clients.client_utils import parse_and_validate_addresses
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.schema import Request, Response

TIMEOUT_MS = 30_000
_ANY = 1 << 15
Address = tuple[str, int]
R = TypeVar("R", bound=Response)


class AdminRequests:
    """Opens a connection for each request, since there are a few of them in the life of a worker.

    Each call raises ConnectionError if no broker responds, and ConnectError if it is too old. ``max_version`` is the
    last version that the caller can write and read.
    """

    def __init__(
        self, bootstrap_servers: Sequence[str], client_id: str, security: ClientChannelBuilder | None = None
    ) -> None:
        """``security``: how connections are protected; None: not at all. Raises ConfigError for unusable addresses."""
        self._bootstrap = parse_and_validate_addresses(bootstrap_servers)
        self._client_id = client_id
        self._security = security

    def any(self, request: Request, response_class: type[R], max_version: int = _ANY) -> R:
        """The response of the first of the ``bootstrap.servers`` that has one."""
        failure: Exception = ConnectionError("no bootstrap.servers")
        for address in self._bootstrap:
            try:
                return self.at(address, request, response_class, max_version)
            except ConnectionError as error:
                failure = error
        raise failure

    def at(self, address: Address, request: Request, response_class: type[R], max_version: int = _ANY) -> R:
        """The response of the broker at an address."""
        with BlockingChannel(
            *address, client_id=self._client_id, read_timeout_ms=TIMEOUT_MS, security=self._security
        ) as channel:
            supported = channel.exchange(ApiVersionsRequest(), 0)
            assert isinstance(supported, ApiVersionsResponse)
            spec = API_SPECS[request.API_KEY]
            highest = {key.api_key: key.max_version for key in supported.api_keys}.get(request.API_KEY, -1)
            version = min(highest, spec.max_version, max_version)
            if version < spec.min_version:
                raise ConnectError(f"The broker {address[0]}:{address[1]} is too old for {request.API_KEY.name}")
            response = channel.exchange(request, version)
        assert isinstance(response, response_class)
        return response
