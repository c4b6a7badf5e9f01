"""What a broker does when a configuration in ZooKeeper has changed.

Kafka 0.10.2: core/.../server/ConfigHandler.scala · book 6.1.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Protocol

from kafka_lite.admin.admin_utils import DEFAULT_ENTITY
from kafka_lite.log.log_config import LogConfig
from kafka_lite.server.dynamic_broker_config import DynamicBrokerConfig

logger = logging.getLogger(__name__)


class ConfigHandler(Protocol):
    """Applies the overrides of the entities of one type."""

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """``config`` has all overrides of the entity that there are now. Raises ConfigError for a bad value."""
        ...


class TopicConfigHandler:
    """Gives the logs of a topic their new configuration."""

    def __init__(
        self, update_topic_config: Callable[[str, LogConfig], None], topic_defaults: Callable[[], Mapping[str, object]]
    ) -> None:
        """``update_topic_config`` is LogManager's; ``topic_defaults`` gives what the broker has for topic keys now."""
        self._update_topic_config = update_topic_config
        self._topic_defaults = topic_defaults

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Overrides of the topic ``entity_name``."""
        self._update_topic_config(entity_name, LogConfig(config, self._topic_defaults()))
        logger.info("Topic %s has the configuration %s now", entity_name, dict(config))


class BrokerConfigHandler:
    """Takes over what can be changed of a running broker."""

    def __init__(self, dynamic_config: DynamicBrokerConfig) -> None:
        self._dynamic_config = dynamic_config

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Overrides of a broker (others than this one are ignored) or of all."""
        if entity_name == DEFAULT_ENTITY:
            self._dynamic_config.update_default(config)
        elif entity_name == str(self._dynamic_config.broker_id):
            self._dynamic_config.update_broker(config)
