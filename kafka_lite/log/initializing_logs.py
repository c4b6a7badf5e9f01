"""Creates the logs of new replicas with the current configuration of their topics.

Kafka 2.4: core/.../log/LogManager.scala (initializingLog, finishedInitializingLog) · book 6.1.5
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.managing.log_configs import OutdatedConfigError


class InitializingLogs:
    """Gives each new log the configuration of its topic, which may be altered at the same time (KAFKA-8813)::

        this thread                             thread that receives alterations
        reads   retention.ms=1
                                                retention.ms=2 is written; there is no log to update yet
        creates the log with retention.ms=1

    So LogManager counts alterations, and rejects a configuration if there was an alteration after it was read.

    Not thread-safe.
    """

    def __init__(self, log_manager: LogManager, fetch_config: Callable[[str], LogConfig]) -> None:
        """``fetch_config`` reads a topic's configuration from ZooKeeper."""
        self._log_manager = log_manager
        self._fetch_config = fetch_config
        self._fetched: dict[str, tuple[int, LogConfig]] = {}

    def begin_order(self) -> None:
        """Clear the cache: configurations are read once per controller request, as a topic can have many partitions."""
        self._fetched.clear()

    def log_for(self, topic_partition: TopicPartition) -> Log:
        """Return the log of a replica, created if necessary. Raises what ``LogManager.get_or_create_log`` raises."""
        topic = topic_partition.topic
        while True:
            if topic not in self._fetched:
                self._fetched[topic] = self._log_manager.configs.alterations(topic), self._fetch_config(topic)
            alterations, config = self._fetched[topic]
            try:
                return self._log_manager.get_or_create_log(topic_partition, config, alterations)
            except OutdatedConfigError:
                del self._fetched[topic]
