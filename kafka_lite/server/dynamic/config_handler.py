"""What a broker does after a configuration in ZooKeeper has changed.

Kafka 0.10.2: core/.../server/ConfigHandler.scala (TopicConfigHandler, BrokerConfigHandler) · book 6.1.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Protocol

from kafka_lite.admin.admin_utils import DEFAULT_ENTITY
from kafka_lite.log.log_config import LogConfig
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig

logger = logging.getLogger(__name__)

UNCLEAN_LEADER_ELECTION_ENABLE = "unclean.leader.election.enable"


class ConfigHandler(Protocol):
    """Applies the overrides of the entities of one type."""

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """``config`` has all overrides of the entity that there are now. Raises ConfigError for a bad value."""
        ...


class TopicConfigHandler:
    """Gives the logs of a topic their new configuration, and lets the controller elect leaders if that allows it."""

    def __init__(
        self,
        update_topic_config: Callable[[str, LogConfig], None],
        topic_defaults: Callable[[], Mapping[str, object]],
        on_unclean_leader_election_enabled: Callable[[str], None],
    ) -> None:
        """``topic_defaults`` gives what the broker has for topic keys now; ``update_topic_config`` is LogManager's.

        The last one is the controller's: the topic allows unclean elections itself, so partitions may get a leader.
        """
        self._update_topic_config = update_topic_config
        self._topic_defaults = topic_defaults
        self._on_unclean_leader_election_enabled = on_unclean_leader_election_enabled

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Overrides of the topic ``entity_name``."""
        log_config = LogConfig(config, self._topic_defaults())
        self._update_topic_config(entity_name, log_config)
        logger.info("Topic %s has the configuration %s now", entity_name, dict(config))
        if UNCLEAN_LEADER_ELECTION_ENABLE in config and log_config.unclean_leader_election_enable:
            self._on_unclean_leader_election_enabled(entity_name)


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
