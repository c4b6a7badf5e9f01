"""Where consumers come from.

Kafka 0.10.2: core/.../consumer/ConsumerConnector.scala (object Consumer) · book 3.1.1
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_connector import ConsumerConnector
from kafka_lite.old_consumer.zookeeper_consumer_connector import ZookeeperConsumerConnector


class Consumer:
    """Makes connectors."""

    @staticmethod
    def create(config: ConsumerConfig | Mapping[str, object], time: Time = SYSTEM_TIME) -> ConsumerConnector:
        """A connector; ``group.id`` and ``zookeeper.connect`` are needed. Raises ConfigError, ZkConnectionError."""
        checked = config if isinstance(config, ConsumerConfig) else ConsumerConfig(config)
        return ZookeeperConsumerConnector(checked, time)
