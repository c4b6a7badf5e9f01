"""What a part of the broker offers whose configuration can change while it runs.

Kafka 1.1: core/.../server/DynamicBrokerConfig.scala (BrokerReconfigurable) · book 6.1.6
"""

from __future__ import annotations

from typing import Protocol

from kafka_lite.server.kafka_config import KafkaConfig


class BrokerReconfigurable(Protocol):
    """Is asked first whether it can work with a new configuration, and told when that holds."""

    @property
    def reconfigurable_configs(self) -> frozenset[str]:
        """The keys that concern it; a change of others is none of its business."""
        ...

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Raise ConfigError when this configuration is too far from what holds now, or cannot be applied at all."""
        ...

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Work with the new configuration from now on."""
        ...
