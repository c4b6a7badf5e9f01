"""Lets logs remember idle producers for longer or shorter while the broker runs: ``producer.id.expiration.ms``.

Kafka 3.5: core/.../server/DynamicBrokerConfig.scala (DynamicProducerStateManagerConfig) · book 6.1.2
"""

from __future__ import annotations

import logging

from kafka_lite.log.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.server.kafka_config import KafkaConfig

logger = logging.getLogger(__name__)


class DynamicProducerStateManagerConfig:
    """A BrokerReconfigurable for the configuration that all logs share. Any time will do."""

    reconfigurable_configs = frozenset({"producer.id.expiration.ms"})
    """Kafka counts ``transaction.partition.verification.enable`` too: there are no transactions here yet."""

    def __init__(self, config: ProducerStateManagerConfig) -> None:
        self._config = config

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Nothing to ask: KafkaConfig has judged the value."""

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """The next look for expired producers goes by the new time."""
        old_ms, new_ms = self._config.producer_id_expiration_ms, new_config.producer_id_expiration_ms
        logger.info("Reconfigure producer.id.expiration.ms from %d to %d", old_ms, new_ms)
        self._config.producer_id_expiration_ms = new_ms
