"""Creates repartition topics and changelogs, and checks those that exist.

Kafka 0.10.2: streams/.../processor/internals/InternalTopicManager.java · book 9.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.streams.assignment.streams_kafka_client import TopicsClient
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig

logger = logging.getLogger(__name__)

_MAX_TRIES = 5
_BACKOFF_MS = 100
_READY_WAIT_MS = 60_000
_READY_BACKOFF_MS = 50


class InternalTopicManager:
    """Runs in the leader of the group, before tasks are assigned."""

    def __init__(self, client: TopicsClient, replication_factor: int, time: Time = SYSTEM_TIME) -> None:
        self._client = client
        self._replication_factor = replication_factor
        self._time = time

    def make_ready(self, topics: Mapping[InternalTopicConfig, int]) -> None:
        """Create the topics that do not exist, with these numbers of partitions, and wait until brokers know them.

        Raises StreamsError if a topic exists with another number of partitions, if there are fewer brokers than
        replicas, and if the topics are not there after some tries.
        """
        if not topics:
            return
        failure: StreamsError | None = None
        for number in range(_MAX_TRIES):
            try:
                self._create_missing(topics)
                break
            except StreamsError as error:
                logger.warning("Could not create internal topics: %s Retry #%d", error, number)
                failure = error
                self._time.sleep(_BACKOFF_MS)
        else:
            raise StreamsError(f"Could not create internal topics. {failure}") from failure
        self._await(topics)

    def _create_missing(self, topics: Mapping[InternalTopicConfig, int]) -> None:
        cluster = self._client.fetch_topics()
        missing = {}
        for topic, expected in topics.items():
            actual = cluster.partition_counts.get(topic.name)
            if topic.name in cluster.errors:
                self._ensure_exists_soon(topic.name, cluster.errors[topic.name])
            elif actual is None:
                missing[topic] = expected
            elif actual != expected:
                raise StreamsError(
                    f"Existing internal topic {topic.name} has invalid partitions. Expected: {expected} Actual: "
                    f"{actual}. Delete the topic, or reset the application, before processing."
                )
        if missing:
            if cluster.brokers < self._replication_factor:
                raise StreamsError(
                    f"Found only {cluster.brokers} brokers,  but replication factor is {self._replication_factor}. "
                    'Decrease replication factor for internal topics via StreamsConfig parameter "replication.factor" '
                    "or add more brokers to your cluster."
                )
            self._client.create_topics(missing, self._replication_factor, cluster)

    @staticmethod
    def _ensure_exists_soon(topic: str, error: Errors) -> None:
        """A topic that is there, but cannot be described: it is waited for if that may pass. Raises StreamsError."""
        if not error.retriable:
            raise StreamsError(f"Could not describe topic {topic}: {error.name}.")

    def _await(self, topics: Mapping[InternalTopicConfig, int]) -> None:
        """Wait for the metadata of new topics. (0.10.2 waits without end.)"""
        deadline_ms = self._time.hi_res_ms() + _READY_WAIT_MS
        while True:
            cluster = self._client.fetch_topics()
            counts = cluster.partition_counts
            missing = [topic.name for topic, expected in topics.items() if counts.get(topic.name) != expected]
            if not missing:
                return
            if self._time.hi_res_ms() >= deadline_ms:
                errors = {topic: cluster.errors[topic].name for topic in missing if topic in cluster.errors}
                raise StreamsError(
                    f"Internal topics {missing} were created, but are not in the brokers' metadata. {errors or ''}"
                )
            self._time.sleep(_READY_BACKOFF_MS)
