"""Creates the topics that a worker needs.

Kafka 1.0: connect/runtime/.../connect/util/TopicAdmin.java · book 8.3.5
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafka_lite.clients.admin_client import AdminClient, controller_of, describe_cluster
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

logger = logging.getLogger(__name__)

TIMEOUT_MS = 30_000
NO_CONFIGS: Final[Mapping[str, str]] = MappingProxyType({})
_UNKNOWN = Errors.UNKNOWN_TOPIC_OR_PARTITION.code


class TopicAdmin:
    """It need not be closed."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        """``configs``: those of an AdminClient. Raises ConfigError."""
        self._client = AdminClient(configs)

    def ensure_exists(
        self, topic: str, partitions: int, replication_factor: int, configs: Mapping[str, str] = NO_CONFIGS
    ) -> bool:
        """Create a topic unless there is one of this name. True if it was created. Raises ConnectError."""
        try:
            cluster = describe_cluster(self._client)
            if any(each.name == topic and each.error_code != _UNKNOWN for each in cluster.topics):
                return False
            logger.info("Topic %s doesn't exist. Will attempt to create topic.", topic)
            own = [CreatableTopicConfig(name=name, value=value) for name, value in configs.items()]
            entry = CreatableTopic(
                name=topic, num_partitions=partitions, replication_factor=replication_factor, configs=own
            )
            return self._create(cluster, entry)
        except (ConnectionError, ApiError) as error:
            raise ConnectError(f"Could not create topic {topic}: {error}") from error

    def _create(self, cluster: MetadataResponse, entry: CreatableTopic) -> bool:
        topic = entry.name
        controller = controller_of(cluster)
        if controller is None:
            raise ConnectError(f"Could not create topic {topic}: the cluster has no controller at the moment")
        request = CreateTopicsRequest(topics=[entry], timeout_ms=TIMEOUT_MS)
        result = self._client.send(controller, request, CreateTopicsResponse).topics[0]
        error = Errors.for_code(result.error_code)
        if error not in (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS):
            raise ConnectError(f"Could not create topic {topic}: {result.error_message or error.name}")
        return error is Errors.NONE
