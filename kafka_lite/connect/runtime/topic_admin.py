"""Creates the topics that a worker needs.

Kafka 1.0: connect/runtime/.../connect/util/TopicAdmin.java · book 8.3.5
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TypeVar

from kafka_lite.clients.client_utils import parse_and_validate_addresses
from kafka_lite.common.errors import Errors
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from kafka_lite.protocol.schema import Request, Response

logger = logging.getLogger(__name__)

TIMEOUT_MS = 30_000
_LAST_METADATA_VERSION = 4
"""With the controller and all topics by their names."""
_UNKNOWN = Errors.UNKNOWN_TOPIC_OR_PARTITION.code
R = TypeVar("R", bound=Response)


class TopicAdmin:
    """Opens a connection for each call, since there are a few calls in the life of a worker."""

    def __init__(self, bootstrap_servers: Sequence[str], client_id: str) -> None:
        """Raises ConfigError for addresses that cannot be used."""
        self._bootstrap = parse_and_validate_addresses(bootstrap_servers)
        self._client_id = client_id

    def ensure_exists(self, topic: str, partitions: int, replication_factor: int) -> bool:
        """Create a topic unless there is one of this name. True if it was created. Raises ConnectError."""
        try:
            cluster = self._metadata()
            if any(each.name == topic and each.error_code != _UNKNOWN for each in cluster.topics):
                return False
            logger.info("Topic %s doesn't exist. Will attempt to create topic.", topic)
            return self._create(cluster, topic, partitions, replication_factor)
        except ConnectionError as error:
            raise ConnectError(f"Could not create topic {topic}: {error}") from error

    def _metadata(self) -> MetadataResponse:
        """From the first of the ``bootstrap.servers`` that responds."""
        failure: Exception = ConnectionError("no bootstrap.servers")
        for address in self._bootstrap:
            try:
                return self._exchange(address, MetadataRequest(topics=None), MetadataResponse, _LAST_METADATA_VERSION)
            except ConnectionError as error:
                failure = error
        raise failure

    def _create(self, cluster: MetadataResponse, topic: str, partitions: int, replication_factor: int) -> bool:
        controllers = [(each.host, each.port) for each in cluster.brokers if each.node_id == cluster.controller_id]
        if not controllers:
            raise ConnectError(f"Could not create topic {topic}: the cluster has no controller at the moment")
        entry = CreatableTopic(name=topic, num_partitions=partitions, replication_factor=replication_factor)
        request = CreateTopicsRequest(topics=[entry], timeout_ms=TIMEOUT_MS)
        result = self._exchange(controllers[0], request, CreateTopicsResponse).topics[0]
        error = Errors.for_code(result.error_code)
        if error not in (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS):
            raise ConnectError(f"Could not create topic {topic}: {result.error_message or error.name}")
        return error is Errors.NONE

    def _exchange(
        self, address: tuple[str, int], request: Request, response_class: type[R], max_version: int = 1 << 15
    ) -> R:
        """Raises ConnectionError, and ConnectError if the broker is too old."""
        with BlockingChannel(*address, client_id=self._client_id, read_timeout_ms=TIMEOUT_MS) as channel:
            supported = channel.exchange(ApiVersionsRequest(), 0)
            assert isinstance(supported, ApiVersionsResponse)
            spec = API_SPECS[request.API_KEY]
            highest = {key.api_key: key.max_version for key in supported.api_keys}.get(request.API_KEY, -1)
            version = min(highest, spec.max_version, max_version)
            if version < spec.min_version:
                raise ConnectError(f"The broker {address[0]}:{address[1]} is too old to create topics")
            response = channel.exchange(request, version)
        assert isinstance(response, response_class)
        return response
