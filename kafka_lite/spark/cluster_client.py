"""A blocking client of a cluster: fetches metadata and sends requests to one broker at a time.

Kafka 0.10.2: clients/.../clients/NetworkClient.java, Metadata.java · book 4.2.3
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

from kafka_lite.clients.bootstrap_servers import parse_bootstrap_servers
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.schema import Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)

_API_VERSIONS_VERSION = 0  # every broker since 0.10.0 serves it, and it is sufficient here
_LOWEST_VERSIONS = {ApiKey.METADATA: 1, ApiKey.FETCH: 3, ApiKey.LIST_OFFSETS: 1}  # Kafka 0.10.1
_HIGHEST_VERSIONS = {ApiKey.FETCH: 12}  # later versions identify topics by id


class ClusterUnreachableError(KafkaError):
    """No broker responds; the text lists the addresses tried and their errors."""


class BrokerConnection:
    """A connection to one broker, using versions that both sides support."""

    def __init__(
        self, host: str, port: int, client_id: str, request_timeout_ms: int, security: ClientChannelBuilder | None
    ) -> None:
        self.address = f"{host}:{port}"
        self._channel = BlockingChannel(
            host, port, client_id=client_id, read_timeout_ms=request_timeout_ms, security=security
        )
        self._channel.connect()
        try:
            self._versions = self._ask_versions()
        except BaseException:
            self._channel.close()
            raise

    def _ask_versions(self) -> dict[int, tuple[int, int]]:
        response = cast(ApiVersionsResponse, self._channel.exchange(ApiVersionsRequest(), _API_VERSIONS_VERSION))
        if response.error_code:
            raise Errors.for_code(response.error_code).exception()
        return {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}

    def version(self, api_key: ApiKey) -> int:
        """The highest version of an API that both sides support. Raises ``ApiError`` if there is none."""
        spec = API_SPECS[api_key]
        lowest, highest = self._versions.get(api_key, (0, -1))
        highest = min(highest, spec.max_version, _HIGHEST_VERSIONS.get(api_key, spec.max_version))
        if highest < max(lowest, _LOWEST_VERSIONS.get(api_key, 0)):
            message = f"the broker at {self.address} has no version of {api_key.name} that this client supports"
            raise Errors.UNSUPPORTED_VERSION.exception(message)
        return highest

    def exchange(self, request: Request, response_class: type[R]) -> R:
        """Send a request and wait for the response. Raises ``OSError`` if the connection is lost or times out."""
        response = self._channel.exchange(request, self.version(request.API_KEY))
        assert isinstance(response, response_class)
        return response

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()


class ClusterClient:
    """Finds the leaders of partitions and keeps a connection to each broker used.

    Not thread-safe: every reader has its own.
    """

    def __init__(
        self,
        bootstrap_servers: Sequence[str],
        client_id: str,
        request_timeout_ms: int,
        security: ClientChannelBuilder | None = None,
    ) -> None:
        """``security``: how the connections are protected; None: not at all.

        Raises ConfigError for bootstrap servers of a wrong form.
        """
        self._security = security
        self._bootstrap = parse_bootstrap_servers(bootstrap_servers)
        self._client_id = client_id
        self._request_timeout_ms = request_timeout_ms
        self._bootstrap_connection: BrokerConnection | None = None
        self._connections: dict[int, BrokerConnection] = {}
        self._brokers: dict[int, tuple[str, int]] = {}
        self._leaders: dict[TopicPartition, int] = {}

    def __enter__(self) -> ClusterClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def metadata(self, topics: Iterable[str] | None) -> MetadataResponse:
        """Fetch metadata of these topics, or of all if None, and remember the leaders.

        Raises ``ClusterUnreachableError`` if no bootstrap server responds, and ``AuthenticationError`` if one does not
        accept this client, or is not trusted.
        """
        wanted = None if topics is None else [MetadataRequestTopic(name=topic) for topic in sorted(topics)]
        response = self._ask_any(MetadataRequest(topics=wanted, allow_auto_topic_creation=False))
        self._brokers = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
        for topic in response.topics:
            for partition in topic.partitions:
                self._leaders[TopicPartition(topic.name or "", partition.partition_index)] = partition.leader_id
        return response

    def _ask_any(self, request: MetadataRequest) -> MetadataResponse:
        failures = []
        if self._bootstrap_connection is not None:
            try:
                return self._bootstrap_connection.exchange(request, MetadataResponse)
            except OSError:
                self._bootstrap_connection.close()
                self._bootstrap_connection = None
        # The brokers known by now come last: a bootstrap server may be down while the others serve its partitions.
        for host, port in dict.fromkeys([*self._bootstrap, *self._brokers.values()]):
            try:
                self._bootstrap_connection = self._connect(host, port)
                return self._bootstrap_connection.exchange(request, MetadataResponse)
            except AuthenticationError:
                raise
            except OSError as error:
                failures.append(f"{host}:{port} ({error})")
        raise ClusterUnreachableError(f"no Kafka broker responds; tried {', '.join(failures)}")

    @property
    def has_answered(self) -> bool:
        """Whether a broker has ever responded: if so, the addresses are right, and being unreachable may pass."""
        return bool(self._brokers)

    def leader_of(self, partition: TopicPartition) -> int:
        """The node id of a partition's leader; -1 if it has none. Raises ``ApiError`` for an unknown partition."""
        if self._leaders.get(partition, -1) < 0:
            self.metadata([partition.topic])
        if partition not in self._leaders:
            raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f"there is no partition {partition}")
        return self._leaders[partition]

    def forget_leader(self, partition: TopicPartition) -> None:
        """Forget the cached leader, which is no longer the leader or does not respond, and close its connection."""
        node_id = self._leaders.pop(partition, -1)
        if connection := self._connections.pop(node_id, None):
            connection.close()

    def connection(self, node_id: int) -> BrokerConnection:
        """A connection to a broker known from ``metadata``. Raises ``OSError``, ``ApiError``."""
        if node_id not in self._brokers:
            raise Errors.LEADER_NOT_AVAILABLE.exception()
        if node_id not in self._connections:
            self._connections[node_id] = self._connect(*self._brokers[node_id])
        return self._connections[node_id]

    def _connect(self, host: str, port: int) -> BrokerConnection:
        return BrokerConnection(host, port, self._client_id, self._request_timeout_ms, self._security)

    def close(self) -> None:
        """Close all connections. Later calls reopen them."""
        connections = [*self._connections.values(), *filter(None, [self._bootstrap_connection])]
        self._connections, self._bootstrap_connection = {}, None
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.close()
