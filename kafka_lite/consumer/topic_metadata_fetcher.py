"""Fetches the partitions of any topics, for the user.

Kafka 0.10.2: clients/.../consumer/internals/Fetcher.java; since 3.5 TopicMetadataFetcher.java · book 7.3.2
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import cast

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.clients.metadata_updater import LATEST_VERSION, cluster_of
from kafka_lite.clients.request_future import is_retriable
from kafka_lite.common.errors import Errors
from kafka_lite.consumer.consumer_errors import ConsumerTimeoutError
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.timer import Timer
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

logger = logging.getLogger(__name__)

PartitionsByTopic = dict[str, tuple[PartitionInfo, ...]]


class TopicMetadataFetcher:
    """Sends Metadata requests for the user. They are separate from those that refresh the consumer's own metadata."""

    def __init__(
        self, client: ConsumerNetworkClient, *, retry_backoff_ms: float, allow_auto_topic_creation: bool
    ) -> None:
        self._client = client
        self._retry_backoff_ms = retry_backoff_ms
        self._allow_auto_topic_creation = allow_auto_topic_creation

    def get_topic_metadata(self, topic: str, timer: Timer) -> tuple[PartitionInfo, ...]:
        """The partitions of a topic; empty if there is no such topic. Raises ConsumerTimeoutError and ApiError."""
        return self._fetch([topic], timer).get(topic, ())

    def get_all_topic_metadata(self, timer: Timer) -> PartitionsByTopic:
        """The partitions of every topic that the user may describe. Raises ConsumerTimeoutError."""
        return self._fetch(None, timer)

    def _fetch(self, topics: Sequence[str] | None, timer: Timer) -> PartitionsByTopic:
        while True:
            client_response = self._ask(topics, timer)
            if client_response is not None:
                response = cast(MetadataResponse, client_response.response)
                if not _should_retry(response):
                    return _partitions_of(response, client_response.api_version)
            if timer.is_expired:
                why = self._client.why_timed_out()
                raise ConsumerTimeoutError(f"Timeout expired while fetching topic metadata.{why}")
            timer.sleep(self._retry_backoff_ms)

    def _ask(self, topics: Sequence[str] | None, timer: Timer) -> ClientResponse | None:
        """One attempt; None if it failed with a retriable error or timed out."""
        node = self._client.least_loaded_node()
        if node is None:
            return None

        def build(version: int) -> MetadataRequest:
            return MetadataRequest(
                topics=None if topics is None else [MetadataRequestTopic(name=topic) for topic in topics],
                allow_auto_topic_creation=self._allow_auto_topic_creation or version < 4,
            )

        builder = RequestBuilder.by(MetadataRequest.API_KEY, build, oldest_version=1, latest_version=LATEST_VERSION)
        future = self._client.send(node, builder)
        if not self._client.poll_future(future, timer):
            return None
        if future.failed:
            if not is_retriable(future.exception):
                raise future.exception
            return None
        return future.value


def _should_retry(response: MetadataResponse) -> bool:
    """Whether a topic is just being created. Raises ApiError for topics that are invalid or not authorized."""
    retry = False
    for topic in response.topics:
        error = Errors.for_code(topic.error_code)
        if error in (Errors.INVALID_TOPIC_EXCEPTION, Errors.TOPIC_AUTHORIZATION_FAILED):
            raise error.exception(f"{error.message} ({topic.name})")
        if error not in (Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION):
            if not error.retriable:
                raise error.exception(f"Unexpected error fetching metadata for topic {topic.name}: {error.message}")
            logger.debug("Topic metadata for %s: %s", topic.name, error.name)
            retry = True
    return retry


def _partitions_of(response: MetadataResponse, version: int) -> PartitionsByTopic:
    cluster = cluster_of(response, version)
    return {topic: cluster.partitions_for_topic(topic) for topic in sorted(cluster.topics)}
