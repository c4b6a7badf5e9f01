"""Creates the logs of new replicas, with what their topics override at that moment.

Kafka 2.4: core/.../log/LogManager.scala (initializingLog, finishedInitializingLog) · book 6.1.5
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_configs import OutdatedConfigError
from kafka_lite.log.log_manager import LogManager


class InitializingLogs:
    """Gives each new log the configuration of its topic, which may be altered just now (KAFKA-8813)::

        this thread                             whoever hears of alterations
        reads   retention.ms=1
                                                retention.ms=2 is written; no log has to hear of it
        creates the log with retention.ms=1

    So LogManager counts alterations, and takes a configuration only when there were none since before it was read.

    One thread at a time.
    """

    def __init__(self, log_manager: LogManager, fetch_config: Callable[[str], LogConfig]) -> None:
        """``fetch_config`` reads what ZooKeeper says of a topic."""
        self._log_manager = log_manager
        self._fetch_config = fetch_config
        self._fetched: dict[str, tuple[int, LogConfig]] = {}

    def begin_order(self) -> None:
        """Configurations are read once per order of the controller, for a topic can have many partitions."""
        self._fetched.clear()

    def log_for(self, topic_partition: TopicPartition) -> Log:
        """The log of a replica, which may be there already. Raises what ``LogManager.get_or_create_log`` raises."""
        topic = topic_partition.topic
        while True:
            if topic not in self._fetched:
                self._fetched[topic] = self._log_manager.configs.alterations(topic), self._fetch_config(topic)
            alterations, config = self._fetched[topic]
            try:
                return self._log_manager.get_or_create_log(topic_partition, config, alterations)
            except OutdatedConfigError:
                del self._fetched[topic]
