"""The old producer's cache of partitions and their leaders.

Kafka 0.10.2: core/.../producer/BrokerPartitionInfo.scala (PartitionAndLeader), client/ClientUtils.scala · book 2.2.2
"""

from __future__ import annotations

import logging
import random
from collections.abc import Collection
from dataclasses import dataclass

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.old_producer.producer_config import ProducerConfig
from kafka_lite.old_producer.producer_pool import ProducerPool, create_sync_producer
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

logger = logging.getLogger(__name__)

NO_LEADER = -1


@dataclass(frozen=True)
class PartitionAndLeader:
    """A partition and its leader's id; -1 without a leader."""

    topic: str
    partition_id: int
    leader_broker_id: int


class BrokerPartitionInfo:
    """Caches the metadata of every topic that was asked for. Refreshed on demand."""

    def __init__(self, config: ProducerConfig, pool: ProducerPool) -> None:
        self._config = config
        self._pool = pool
        self._topics: dict[str, MetadataResponseTopic] = {}

    def get_broker_partition_info(self, topic: str) -> list[PartitionAndLeader]:
        """The partitions of a topic by number, fetched if necessary.

        Raises KafkaError if no broker responds or the topic has no metadata, ApiError for an error of the topic.
        """
        if topic not in self._topics:
            self.update_info({topic})
        metadata = self._topics.get(topic)
        if metadata is None:
            raise KafkaError(f"Failed to fetch topic metadata for topic: {topic}")
        if not metadata.partitions:
            if metadata.error_code:
                raise Errors.for_code(metadata.error_code).exception(f"No metadata of topic {topic}")
            raise KafkaError(f"Topic metadata of {topic} has empty partition metadata")
        ordered = sorted(metadata.partitions, key=lambda each: each.partition_index)
        return [PartitionAndLeader(topic, each.partition_index, each.leader_id) for each in ordered]

    def update_info(self, topics: Collection[str]) -> None:
        """Fetch metadata of topics, and create producers for the leaders. Raises KafkaError if no broker responds."""
        response = fetch_topic_metadata(self._config, topics)
        leaders = set()
        for topic in response.topics:
            if topic.error_code == Errors.NONE.code and topic.name is not None:
                self._topics[topic.name] = topic
            else:
                logger.warning(
                    "Error while fetching metadata of topic %s: %s", topic.name, Errors.for_code(topic.error_code).name
                )
            leaders |= {partition.leader_id for partition in topic.partitions}
        self._pool.update_producer([broker for broker in response.brokers if broker.node_id in leaders])


def fetch_topic_metadata(config: ProducerConfig, topics: Collection[str]) -> MetadataResponse:
    """Ask the brokers of ``metadata.broker.list``, in random order, until one responds. Raises KafkaError if none
    does."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic) for topic in sorted(topics)])
    brokers = random.sample(config.brokers, len(config.brokers))
    reason: ConnectionError | None = None
    for host, port in brokers:
        producer = create_sync_producer(config, host, port)
        try:
            return producer.send_metadata_request(request)
        except ConnectionError as error:
            logger.warning(
                "Fetching topic metadata for topics %s from broker %s:%d failed: %s", topics, host, port, error
            )
            reason = error
        finally:
            producer.close()
    raise KafkaError(
        f"fetching topic metadata for topics {sorted(topics)} from brokers {config.brokers} failed: {reason}"
    ) from reason
