"""The tools' connection to a cluster: to any broker, the controller, or a partition's leader.

Kafka 0.10.2: core/.../admin/AdminClient.scala; later clients/.../admin/KafkaAdminClient.java · book 7.3.2
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self, TypeVar, cast

from kafka_lite.clients.bootstrap_servers import parse_bootstrap_servers
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.tools.common.tool_errors import ToolError

CLIENT_ID = "kafka-lite-admin"
RETRY_BACKOFF_MS = 100
MAX_CONTROLLER_RETRIES = 30
SETTLE_MS = 5_000
"""How long a tool retries while leaders are elected or brokers restart, in ms."""
UNKNOWN_TOPIC_MS = 1_000
"""How long a topic may be unknown before it counts as missing: a broker that has just started knows none yet."""
SINCE_AUTO_CREATION = 4
"""First Metadata version whose request has ``allow_auto_topic_creation``."""

R = TypeVar("R", bound=Response)


def check_error(code: int, message: str | None = None) -> None:
    """Raise ToolError for a response's error code, with the broker's message or else the error's own."""
    error = Errors.for_code(code)
    if error is not Errors.NONE:
        raise ToolError(message or f"{error.name}: {error.message}")


def check_answered(asked: Iterable[object], answered: Iterable[object]) -> None:
    """Raise ToolError for what a request asked for and its response does not mention: that is no success."""
    missing = sorted({str(each) for each in asked} - {str(each) for each in answered})
    if missing:
        raise ToolError(f"the broker's response has no result for {', '.join(missing)}")


def unknown_topics(names: Iterable[str]) -> str:
    """The message for topics that the brokers do not know."""
    return (
        f"unknown topic {', '.join(sorted(names))}. Is the name right? `kafka-lite topics --list` shows all topics; "
        "if a broker has just started, try again"
    )


class AdminChannel:
    """Connections to the brokers of a cluster; each request uses the highest version that both sides support.

    Raises ConnectionError, whose text says what to check, and ToolError.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        client_id: str = CLIENT_ID,
        timeout_ms: float = 30_000,
        time: Time = SYSTEM_TIME,
        security: ClientChannelBuilder | None = None,
    ) -> None:
        """``security``: how connections are protected. Raises ConfigError for bootstrap servers of a wrong form."""
        self._security = security
        self._bootstrap = parse_bootstrap_servers(bootstrap_servers)
        self._client_id = client_id
        self._timeout_ms = timeout_ms
        self.time = time
        self._channels: dict[int | None, BlockingChannel] = {}
        self._versions: dict[int | None, dict[int, tuple[int, int]]] = {}
        self.brokers: dict[int, MetadataResponseBroker] = {}
        self.controller_id = -1
        self.cluster_id: str | None = None

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self) -> None:
        """Connect to the first bootstrap server that responds and fetch the list of brokers."""
        failure: ConnectionError | None = None
        for host, port in self._bootstrap:
            channel = self._new_channel(host, port)
            try:
                channel.connect()
                self._channels[None] = channel
                self.refresh()
            except ConnectionError as error:
                channel.close()
                self._channels.pop(None, None)
                failure = error
            else:
                return
        raise failure or ToolError("no bootstrap server")

    def close(self) -> None:
        """Close all connections."""
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()

    # ------------------------------------------------------------------------------------------------------- requests

    def send(
        self, request: Request, response_class: type[R], broker_id: int | None = None, max_version: int = 1 << 15
    ) -> R:
        """Send a request to a broker (None: the bootstrap broker) and wait for the response.

        ``max_version`` caps the version, even if both sides support a higher one.
        """
        version = self._version_for(request.API_KEY, broker_id, max_version)
        response = self._channel(broker_id).exchange(request, version, self._timeout_ms)
        assert isinstance(response, response_class)
        return response

    def send_to_controller(
        self, request: Request, response_class: type[R], errors: str, max_version: int = 1 << 15
    ) -> R:
        """Send a request to the controller; if the controller has moved, find the new one and retry.

        ``errors``: the response field whose items each have an ``error_code``, if the response itself has none.
        """
        for _ in range(MAX_CONTROLLER_RETRIES):
            if self.controller_id in self.brokers:
                response = self.send(request, response_class, self.controller_id, max_version)
                items = [response, *cast(Sequence[object], getattr(response, errors))]
                if all(getattr(item, "error_code", 0) != Errors.NOT_CONTROLLER.code for item in items):
                    return response
            self.time.sleep(RETRY_BACKOFF_MS)
            self.refresh()
        raise ToolError("the cluster has no controller. Is ZooKeeper running? The brokers' logs may say more.")

    def api_versions(self, broker_id: int | None = None) -> dict[int, tuple[int, int]]:
        """API key -> lowest and highest version that the broker serves."""
        if broker_id not in self._versions:
            # Every broker that supports ApiVersions supports version 0.
            response = self._channel(broker_id).exchange(ApiVersionsRequest(), 0, self._timeout_ms)
            assert isinstance(response, ApiVersionsResponse)
            check_error(response.error_code)
            self._versions[broker_id] = {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
        return self._versions[broker_id]

    def _version_for(self, api_key: ApiKey, broker_id: int | None, max_version: int) -> int:
        spec = API_SPECS[api_key]
        lowest, highest = self.api_versions(broker_id).get(api_key, (0, -1))
        version = min(highest, spec.max_version, max_version)
        if version < max(lowest, spec.min_version):
            raise ToolError(f"the broker does not serve {api_key.name} in a version that this tool knows")
        return version

    def _channel(self, broker_id: int | None) -> BlockingChannel:
        channel = self._channels.get(broker_id)
        if channel is None:
            broker = self.brokers.get(broker_id if broker_id is not None else -1)
            if broker is None:
                raise ToolError(f"broker {broker_id} is not alive: the cluster has {sorted(self.brokers)}")
            channel = self._channels[broker_id] = self._new_channel(broker.host, broker.port)
        channel.connect()
        return channel

    def _new_channel(self, host: str, port: int) -> BlockingChannel:
        return BlockingChannel(
            host, port, client_id=self._client_id, read_timeout_ms=self._timeout_ms, security=self._security
        )

    # ------------------------------------------------------------------------------------------------------- metadata

    def refresh(self) -> None:
        """Refresh the list of brokers and the controller id."""
        self.ask_metadata([])

    def metadata(self, topics: Iterable[str] | None) -> list[MetadataResponseTopic]:
        """Partitions and leaders of these topics (None: all topics). Never creates a topic.

        Raises ToolError if a topic is still unknown, or still has another error, after it was asked for again.
        """
        found, unknown = self._settled_metadata(None if topics is None else set(topics))
        if unknown:
            raise ToolError(unknown_topics(unknown))
        return found

    def existing_topics(self, topics: Iterable[str], settle_ms: float = SETTLE_MS) -> list[MetadataResponseTopic]:
        """The same without the topics that do not exist; to be sure, they are asked for again for UNKNOWN_TOPIC_MS."""
        found, _ = self._settled_metadata(set(topics), settle_ms)
        return found

    def leaders(self, topics: Iterable[str] | None, settle_ms: float = SETTLE_MS) -> dict[TopicPartition, int]:
        """The leader of every partition of these topics (None: all topics) that exists; -1 if it has no leader."""
        found = self.metadata(None) if topics is None else self.existing_topics(topics, settle_ms)
        return {
            TopicPartition(topic.name or "", partition.partition_index): partition.leader_id
            for topic in found
            for partition in topic.partitions
        }

    def topic_names(self) -> list[str]:
        """All topics, sorted."""
        return sorted(topic.name for topic in self.metadata(None) if topic.name)

    def ask_metadata(self, topics: Iterable[str] | None) -> list[MetadataResponseTopic]:
        """One Metadata request: the topics with their errors, as the broker returns them."""
        names = None if topics is None else set(topics)
        response = self.send(self._metadata_request(names), MetadataResponse)
        self.brokers = {broker.node_id: broker for broker in response.brokers}
        self.controller_id = response.controller_id
        self.cluster_id = response.cluster_id
        return [topic for topic in response.topics if names is None or topic.name in names]

    def _settled_metadata(
        self, names: set[str] | None, settle_ms: float = SETTLE_MS
    ) -> tuple[list[MetadataResponseTopic], list[str]]:
        """The topics that exist and the names of those that do not. Raises ToolError for any other error."""
        began_ms = self.time.hi_res_ms()
        while True:
            found = self.ask_metadata(names)
            errors = dict.fromkeys((names or set()) - {t.name for t in found}, Errors.UNKNOWN_TOPIC_OR_PARTITION)
            errors |= {topic.name or "": Errors.for_code(topic.error_code) for topic in found if topic.error_code}
            waited_ms = self.time.hi_res_ms() - began_ms
            refused = {n: error for n, error in errors.items() if error is not Errors.UNKNOWN_TOPIC_OR_PARTITION}
            for name, error in sorted(refused.items()):
                if not error.retriable or waited_ms >= settle_ms:
                    raise ToolError(f"topic {name}: {error.name}: {error.message}")
            if not refused and (not errors or waited_ms >= min(UNKNOWN_TOPIC_MS, settle_ms)):
                return [topic for topic in found if topic.name not in errors], sorted(errors)
            self.time.sleep(RETRY_BACKOFF_MS)

    def _metadata_request(self, names: set[str] | None) -> MetadataRequest:
        """Brokers before 0.11 create topics that are requested by name, so ask them for all topics."""
        _, newest = self.api_versions().get(ApiKey.METADATA, (0, 0))
        if newest < SINCE_AUTO_CREATION:
            return MetadataRequest(topics=[] if newest == 0 or names == set() else None)
        wanted = None if names is None else [MetadataRequestTopic(name=name) for name in sorted(names)]
        return MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
