"""Asks the brokers for their topics, and creates topics.

Kafka 0.10.2: streams/.../processor/internals/StreamsKafkaClient.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from kafka_lite.clients.admin_client import AdminClient, controller_of, describe_cluster
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig

_TIMEOUT_MS = 30_000


class ClusterTopics(NamedTuple):
    """The content of a Metadata response."""

    brokers: int
    """The number of live brokers."""
    controller: tuple[str, int] | None
    """Host and port of the controller; None if there is none at the moment."""
    partition_counts: Mapping[str, int]
    """The number of partitions of each topic."""
    errors: Mapping[str, Errors]
    """Topics whose partitions the broker could not tell, and why. One that is just being created has no leaders yet."""


class TopicsClient(Protocol):
    """The requests to a cluster that InternalTopicManager needs."""

    def fetch_topics(self) -> ClusterTopics:
        """All topics. Raises StreamsError, which may pass."""
        ...

    def create_topics(
        self, topics: Mapping[InternalTopicConfig, int], replication_factor: int, cluster: ClusterTopics
    ) -> None:
        """Create topics with these numbers of partitions. One that exists already is no error.

        Raises StreamsError, which may pass.
        """
        ...


class StreamsKafkaClient:
    """Asks the brokers as an admin client: there are a few calls in each rebalance, and then none for hours."""

    def __init__(self, configs: Mapping[str, object], additional_retention_ms: int = 0) -> None:
        """``configs``: those of an AdminClient. Changelogs of window stores keep expired entries for
        ``additional_retention_ms``.

        Raises ConfigError for addresses and other values that cannot be used.
        """
        self._client = AdminClient(configs)
        self._additional_retention_ms = additional_retention_ms

    def fetch_topics(self) -> ClusterTopics:
        """All topics, from the first of the ``bootstrap.servers`` that responds. Raises StreamsError if none does."""
        try:
            response = describe_cluster(self._client)
        except ConnectionError as error:
            raise StreamsError(f"Could not fetch the topics of the cluster: {error}") from error
        except ApiError as error:
            raise _too_old(error) from error
        return _cluster_topics(response)

    def create_topics(
        self, topics: Mapping[InternalTopicConfig, int], replication_factor: int, cluster: ClusterTopics
    ) -> None:
        """Create topics through the controller."""
        if cluster.controller is None:
            raise StreamsError("Could not create topics: the cluster has no controller at the moment")
        entries = [
            CreatableTopic(
                name=topic.name,
                num_partitions=partitions,
                replication_factor=replication_factor,
                configs=[
                    CreatableTopicConfig(name=key, value=value)
                    for key, value in topic.to_properties(self._additional_retention_ms).items()
                ],
            )
            for topic, partitions in topics.items()
        ]
        request = CreateTopicsRequest(topics=entries, timeout_ms=_TIMEOUT_MS)
        try:
            response = self._client.send(cluster.controller, request, CreateTopicsResponse)
        except ConnectionError as error:
            raise StreamsError(f"Could not create topics: {error}") from error
        except ApiError as error:
            raise _too_old(error) from error
        for result in response.topics:
            error_code = Errors.for_code(result.error_code)
            if error_code not in (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS):
                raise StreamsError(f"Could not create topic: {result.name} due to {error_code.name}")


def _too_old(error: ApiError) -> StreamsError:
    return StreamsError(f"Kafka Streams requires broker version 0.10.1.x or higher: {error}")


def _cluster_topics(response: MetadataResponse) -> ClusterTopics:
    counts = {topic.name: len(topic.partitions) for topic in response.topics if topic.name and topic.partitions}
    found = {topic.name: Errors.for_code(topic.error_code) for topic in response.topics if topic.name not in counts}
    absent = (Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    errors = {name: error for name, error in found.items() if name is not None and error not in absent}
    return ClusterTopics(len(response.brokers), controller_of(response), counts, errors)
