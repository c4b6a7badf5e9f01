"""Decides when the network client requests metadata, from which broker, and handles the response.

Kafka 0.10.2: clients/.../clients/MetadataUpdater.java, ManualMetadataUpdater.java, NetworkClient.java
(DefaultMetadataUpdater) · book 2.1.3
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Protocol

from kafka_lite.clients.client_request import RequestBuilder
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.errors import Errors
from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

logger = logging.getLogger(__name__)

LATEST_VERSION = 12
FIRST_VERSION_BY_ID = 12
FIRST_VERSION_WITH_RELIABLE_EPOCHS = 9
"""Brokers that do not know this version may report old leader epochs of partitions with new leaders (KAFKA-9212)."""


class MetadataUpdater(Protocol):
    """The part of a network client that manages its metadata."""

    def fetch_nodes(self) -> Sequence[Node]:
        """The known brokers."""
        ...

    def is_update_due(self, now_ms: float) -> bool:
        """Whether a metadata request must precede any other request."""
        ...

    def maybe_update(self, now_ms: float) -> float:
        """Request an update if one is due; returns the time until the next call is needed, ms."""
        ...

    def handle_disconnection(self, destination: str) -> None:
        """The connection over which metadata was requested is lost."""
        ...

    def handle_completed_metadata_response(self, response: MetadataResponse, version: int, now_ms: float) -> None:
        """A metadata response of this version has arrived."""
        ...

    def request_update(self) -> None:
        """Request an update, because the metadata may be out of date."""
        ...

    def authentication_failed(self, error: AuthenticationError) -> None:
        """A broker and this client do not accept each other."""
        ...


class ManualMetadataUpdater:
    """For a network client that only talks to brokers that its owner knows."""

    def __init__(self, nodes: Sequence[Node] = ()) -> None:
        self._nodes = list(nodes)

    def set_nodes(self, nodes: Sequence[Node]) -> None:
        """Replace the brokers."""
        self._nodes = list(nodes)

    def fetch_nodes(self) -> Sequence[Node]:
        """The given brokers."""
        return self._nodes

    def is_update_due(self, now_ms: float) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def maybe_update(self, now_ms: float) -> float:  # noqa: ARG002
        """No update is ever needed."""
        return math.inf

    def handle_disconnection(self, destination: str) -> None:
        """Nothing: no metadata is requested."""

    def handle_completed_metadata_response(self, response: MetadataResponse, version: int, now_ms: float) -> None:
        """Nothing: no metadata is requested."""

    def request_update(self) -> None:
        """Nothing: no metadata is requested."""

    def authentication_failed(self, error: AuthenticationError) -> None:
        """Nothing: nobody waits for metadata."""


class MetadataSender(Protocol):
    """The part of the network client that an updater uses."""

    def least_loaded_node(self, now_ms: float) -> Node | None:
        """The broker with the fewest requests in flight; None if all are in backoff."""
        ...

    def can_send_request(self, node: str) -> bool:
        """Whether a request may be sent now."""
        ...

    def any_is_establishing(self) -> bool:
        """Whether any connection is being established."""
        ...

    def initiate_connect(self, node: Node, now_ms: float) -> None:
        """Start to connect."""
        ...

    def can_connect(self, node: str, now_ms: float) -> bool:
        """Whether a connection attempt may start."""
        ...

    def send_internal(self, builder: RequestBuilder, destination: str, now_ms: float) -> None:
        """Send a request of the network client's own."""
        ...


class DefaultMetadataUpdater:
    """Keeps a :class:`Metadata` fresh, with one request at a time to the least loaded broker."""

    def __init__(self, metadata: Metadata, sender: MetadataSender, reconnect_backoff_ms: float) -> None:
        self._metadata = metadata
        self._sender = sender
        self._reconnect_backoff_ms = reconnect_backoff_ms
        self._fetch_in_progress = False
        self._failed_topics: dict[str | None, str] = {}
        """Topics with errors in the last response, and the errors."""

    def fetch_nodes(self) -> Sequence[Node]:
        """The brokers of the newest metadata."""
        return self._metadata.fetch().nodes

    def is_update_due(self, now_ms: float) -> bool:
        """Whether a metadata request must precede any other request."""
        return not self._fetch_in_progress and self._metadata.time_to_next_update(now_ms) == 0

    def maybe_update(self, now_ms: float) -> float:
        """Request an update if one is due; returns the time until the next call is needed, ms."""
        if self._fetch_in_progress:
            return math.inf
        wait_ms = self._metadata.time_to_next_update(now_ms)
        if wait_ms > 0:
            return wait_ms
        node = self._sender.least_loaded_node(now_ms)
        if node is None:
            logger.debug("Give up sending metadata request since no node is available")
            return self._reconnect_backoff_ms
        return self._maybe_update_from(node, now_ms)

    def _maybe_update_from(self, node: Node, now_ms: float) -> float:
        if self._sender.can_send_request(node.id_string):
            self._fetch_in_progress = True
            self._sender.send_internal(self._request(), node.id_string, now_ms)
            return math.inf
        if self._sender.any_is_establishing():
            # One of these is enough. Connecting to another one each time would end in connections to all brokers.
            return self._reconnect_backoff_ms
        if self._sender.can_connect(node.id_string, now_ms):
            logger.debug("Initialize connection to node %s for sending metadata request", node)
            self._sender.initiate_connect(node, now_ms)
            return self._reconnect_backoff_ms
        return math.inf  # connected, but with requests in flight, whose responses end the poll

    def _request(self) -> RequestBuilder:
        metadata = self._metadata
        topic_ids, topics = metadata.topic_ids, None
        if topic_ids:
            topics = [MetadataRequestTopic(topic_id=each, name=None) for each in sorted(topic_ids)]
        elif not metadata.need_metadata_for_all_topics:
            topics = [MetadataRequestTopic(name=topic) for topic in sorted(metadata.topics())]

        def build(version: int) -> MetadataRequest:
            # Before version 4 only the broker's configuration decides.
            allowed = metadata.allow_auto_topic_creation or version < 4
            if topic_ids and version < FIRST_VERSION_BY_ID:
                return MetadataRequest(topics=None, allow_auto_topic_creation=allowed)  # all topics
            return MetadataRequest(topics=topics, allow_auto_topic_creation=allowed)

        return RequestBuilder.by(MetadataRequest.API_KEY, build, oldest_version=1, latest_version=LATEST_VERSION)

    def handle_disconnection(self, destination: str) -> None:
        """The connection over which metadata was requested is lost: ask another broker."""
        if destination.startswith("-"):
            logger.warning("Bootstrap broker disconnected before it returned metadata (id %s)", destination)
        self._fetch_in_progress = False
        self._metadata.request_update()

    def handle_completed_metadata_response(self, response: MetadataResponse, version: int, now_ms: float) -> None:
        """Take over the metadata, unless it has no brokers: then the broker has just started."""
        self._fetch_in_progress = False
        failed = {topic.name: Errors.for_code(topic.error_code).name for topic in response.topics if topic.error_code}
        if failed != self._failed_topics:
            # Log each change once: a refused topic is requested again for as long as it is of interest.
            self._failed_topics = failed
            if set(failed.values()) == {Errors.LEADER_NOT_AVAILABLE.name}:
                # Of a whole topic, the broker says this only while it creates the topic. (Kafka's client warns.)
                logger.info("Error while fetching metadata: %s: the topics are being created", failed)
            elif failed:
                logger.warning("Error while fetching metadata: %s", failed)
        if response.brokers:
            self._metadata.update(cluster_of(response, version), now_ms)
        else:
            logger.debug("Ignoring empty metadata response")
            self._metadata.failed_update(now_ms)

    def request_update(self) -> None:
        """Request an update, because the metadata may be out of date."""
        self._metadata.request_update()

    def authentication_failed(self, error: AuthenticationError) -> None:
        """Let the threads that wait for metadata know at once."""
        self._metadata.authentication_failed(error)


def cluster_of(response: MetadataResponse, version: int) -> Cluster:
    """A Metadata response of this version as a :class:`Cluster`. Topics with errors have no partitions."""
    with_epochs = version >= FIRST_VERSION_WITH_RELIABLE_EPOCHS
    nodes = {each.node_id: Node(each.node_id, each.host, each.port, each.rack) for each in response.brokers}
    partitions = [
        info
        for topic in response.topics
        if topic.error_code == Errors.NONE.code
        for info in _partitions(topic, nodes, with_epochs)
    ]
    return Cluster(
        nodes=tuple(nodes.values()),
        partitions=tuple(partitions),
        cluster_id=response.cluster_id,
        controller=nodes.get(response.controller_id),
        unauthorized_topics=_with_error(response, Errors.TOPIC_AUTHORIZATION_FAILED),
        invalid_topics=_with_error(response, Errors.INVALID_TOPIC_EXCEPTION),
        internal_topics=frozenset(topic.name or "" for topic in response.topics if topic.is_internal),
        topic_ids={topic.name: topic.topic_id for topic in response.topics if topic.name and topic.topic_id.int},
    )


def _partitions(topic: MetadataResponseTopic, nodes: dict[int, Node], with_epochs: bool) -> list[PartitionInfo]:
    def known(ids: list[int]) -> tuple[Node, ...]:
        return tuple(nodes.get(each) or Node(each, "", -1) for each in ids)

    return [
        PartitionInfo(
            topic=topic.name or "",
            partition=each.partition_index,
            leader=nodes.get(each.leader_id),
            replicas=known(each.replica_nodes),
            in_sync_replicas=known(each.isr_nodes),
            leader_epoch=each.leader_epoch if with_epochs else -1,
        )
        for each in topic.partitions
    ]


def _with_error(response: MetadataResponse, error: Errors) -> frozenset[str]:
    return frozenset(topic.name or "" for topic in response.topics if topic.error_code == error.code)
