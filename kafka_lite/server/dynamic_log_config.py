"""Gives the logs other defaults while the broker runs: ``log.retention.ms``, ``message.max.bytes`` and the like.

Kafka 1.1: core/.../server/DynamicBrokerConfig.scala (DynamicLogConfig) · book 6.1.5
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.server.config.server_topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kafka_lite.server.kafka_config import KafkaConfig

NON_RECONFIGURABLE_LOG_CONFIGS = frozenset({"message.format.version"})
"""Topic keys whose broker key cannot be changed: first all brokers would have to know the new format."""


class DynamicLogConfig:
    """A BrokerReconfigurable for the LogManager: what topics do not override changes for all logs at once.

    A new segment size, retention time or compression holds from the next append or the next look for old segments.
    """

    reconfigurable_configs = frozenset(
        broker_keys[0].name
        for topic_key, broker_keys in TOPIC_CONFIG_SYNONYMS.items()
        if topic_key not in NON_RECONFIGURABLE_LOG_CONFIGS
    )
    """Of several keys for the same (``log.retention.ms``, ``.minutes``, ``.hours``) the strongest only, as in Kafka."""

    def __init__(self, log_manager: LogManager, on_unclean_leader_election_enabled: Callable[[], None]) -> None:
        """The callback is the controller's: partitions without a leader may get one."""
        self._log_manager = log_manager
        self._on_unclean_leader_election_enabled = on_unclean_leader_election_enabled

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Nothing to ask: KafkaConfig has judged the values, and that they do not contradict each other."""

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """All logs have the new defaults, except for what their topics override."""
        old, new = self._log_manager.configs.default, LogConfig({}, new_config.log_config_map())
        self._log_manager.update_default_config(new)
        if new.unclean_leader_election_enable and not old.unclean_leader_election_enable:
            self._on_unclean_leader_election_enabled()
