"""Applies a configuration that has changed in ZooKeeper.

Kafka 0.10.2: core/.../server/ConfigHandler.scala (TopicConfigHandler, BrokerConfigHandler;
later GroupConfigHandler) · book 6.1.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Protocol

from kafka_lite.admin.admin_utils import DEFAULT_ENTITY
from kafka_lite.log.log_config import LogConfig
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.quotas.quota_factory import QuotaManagers
from kafka_lite.zookeeper.sanitizer import desanitize

logger = logging.getLogger(__name__)

UNCLEAN_LEADER_ELECTION_ENABLE = "unclean.leader.election.enable"


class ConfigHandler(Protocol):
    """Applies the overrides of the entities of one type."""

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Apply ``config``, which has all current overrides of the entity. Raises ConfigError for a bad value."""
        ...


class TopicConfigHandler:
    """Applies a topic's configuration to its logs and to the replication quotas.

    It also lets the controller elect leaders if the topic now allows that.
    """

    def __init__(
        self,
        update_topic_config: Callable[[str, LogConfig], None],
        topic_defaults: Callable[[], Mapping[str, object]],
        on_unclean_leader_election_enabled: Callable[[str], None],
        quotas: QuotaManagers,
    ) -> None:
        """``topic_defaults`` returns the current defaults of topic keys; ``update_topic_config`` is LogManager's.

        The third argument is the controller's: the topic now allows unclean elections, so partitions may get a leader.
        """
        self._update_topic_config = update_topic_config
        self._topic_defaults = topic_defaults
        self._on_unclean_leader_election_enabled = on_unclean_leader_election_enabled
        self._quotas = quotas

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Apply the overrides of the topic ``entity_name``."""
        log_config = LogConfig(config, self._topic_defaults())
        self._update_topic_config(entity_name, log_config)
        self._quotas.update_topic(entity_name, log_config)
        logger.info("The configuration of topic %s is now %s", entity_name, dict(config))
        if UNCLEAN_LEADER_ELECTION_ENABLE in config and log_config.unclean_leader_election_enable:
            self._on_unclean_leader_election_enabled(entity_name)


class BrokerConfigHandler:
    """Applies the overrides of a running broker to its configuration and its replication quotas."""

    def __init__(self, dynamic_config: DynamicBrokerConfig, quotas: QuotaManagers) -> None:
        self._dynamic_config = dynamic_config
        self._quotas = quotas

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Apply the overrides of this broker or of all brokers; those of others are ignored."""
        if entity_name == DEFAULT_ENTITY:
            self._dynamic_config.update_default(config)
        elif entity_name == str(self._dynamic_config.broker_id):
            self._dynamic_config.update_broker(config)
        else:
            return
        self._quotas.update_rates({**self._dynamic_config.default_configs, **self._dynamic_config.broker_configs})


class GroupConfigHandler:
    """Applies the overrides of a group."""

    def __init__(self, update: Callable[[str, Mapping[str, str]], None]) -> None:
        """``update`` is that of the coordinator's GroupConfigManager."""
        self._update = update

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Apply the overrides of the group, whose name is sanitized in ZooKeeper."""
        group_id = desanitize(entity_name)
        self._update(group_id, config)
        logger.info("The configuration of group %s is now %s", group_id, dict(config))
