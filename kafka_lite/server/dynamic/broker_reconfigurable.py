"""The parts of a broker whose configuration can change while it runs.

Kafka 1.1: core/.../server/DynamicBrokerConfig.scala (BrokerReconfigurable, DynamicThreadPool, DynamicLogConfig, …),
log/LogCleaner.scala, network/SocketServer.scala · book 2.3.1, 2.3.4, 6.1.2, 6.1.5, 6.1.6
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.config_def import ConfigError
from kafka_lite.log.cleaning.log_cleaner import LogCleaner
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.server.config.server_topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kafka_lite.server.kafka_config import KafkaConfig

logger = logging.getLogger(__name__)


class BrokerReconfigurable(Protocol):
    """A part that first checks a new configuration, and then applies it."""

    @property
    def reconfigurable_configs(self) -> frozenset[str]:
        """The keys that concern it; a change of others is none of its business."""
        ...

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Raise ConfigError if this configuration is too far from the current one, or cannot be applied at all."""
        ...

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Work with the new configuration from now on."""
        ...


THREAD_POOL_CONFIGS = frozenset({"num.io.threads", "num.recovery.threads.per.data.dir", "background.threads"})
"""The keys that are the size of a pool.

Not ``num.replica.fetchers``, for brokers do not replicate yet. Nor ``num.network.threads``: Kafka ends a network thread
together with its connections, whatever is on its way in them.
"""


class DynamicThreadPool:
    """A BrokerReconfigurable for one pool.

    In small steps only, lest a slip of the finger start thousands of threads, or leave a busy broker with one.
    """

    def __init__(self, key: str, resize: Callable[[int], None], config: KafkaConfig) -> None:
        """``key`` of THREAD_POOL_CONFIGS; ``resize`` gives its pool another size; by ``config`` it was made."""
        self.reconfigurable_configs = frozenset({key})
        self._key = key
        self._resize = resize
        self._size: int = config.values[key]

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Raises ConfigError if there would be fewer than half the threads, or more than twice as many."""
        key, old, new = self._key, self._size, new_config.values[self._key]
        failed = f"Dynamic thread count update validation failed for {key}={new}"
        if new < old // 2:
            raise ConfigError(key, new, f"{failed}, value should be at least half the current value {old}")
        if new > old * 2:
            raise ConfigError(key, new, f"{failed}, value should not be greater than double the current value {old}")

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Missing threads start at once; surplus ones end when they have finished their work."""
        size = new_config.values[self._key]
        logger.info("Resizing the threads of %s from %d to %d", self._key, self._size, size)
        self._resize(size)
        self._size = size


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
        """Nothing to check: KafkaConfig has checked the values, and that they do not contradict each other."""

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """All logs have the new defaults, except for what their topics override."""
        old, new = self._log_manager.configs.default, LogConfig({}, new_config.log_config_map())
        self._log_manager.update_default_config(new)
        if new.unclean_leader_election_enable and not old.unclean_leader_election_enable:
            self._on_unclean_leader_election_enabled()


class DynamicLogCleaner:
    """A BrokerReconfigurable for the LogCleaner, which knows its own configuration only, and not the broker's."""

    reconfigurable_configs = frozenset(
        {
            "log.cleaner.threads",
            "log.cleaner.dedupe.buffer.size",
            "log.cleaner.io.buffer.load.factor",
            "log.cleaner.io.buffer.size",
            "log.cleaner.io.max.bytes.per.second",
            "log.cleaner.backoff.ms",
        }
    )
    """Not the keys that are defaults of topics, nor whether there is a cleaner at all.

    Kafka counts ``message.max.bytes`` too, up to which its cleaner's buffers grow; here they grow with a batch.
    """

    def __init__(self, log_cleaner: LogCleaner) -> None:
        self._log_cleaner = log_cleaner

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Raises ConfigError if there would be fewer than half the threads, more than twice as many, or none."""
        self._log_cleaner.validate_reconfiguration(new_config.cleaner_config())

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """New threads take the place of the old ones; what these were cleaning begins again from its checkpoint."""
        self._log_cleaner.reconfigure(new_config.cleaner_config())


class DynamicProducerStateManagerConfig:
    """A BrokerReconfigurable for the configuration that all logs share. Any time will do."""

    reconfigurable_configs = frozenset({"producer.id.expiration.ms"})
    """Kafka counts ``transaction.partition.verification.enable`` too: there are no transactions here yet."""

    def __init__(self, config: ProducerStateManagerConfig) -> None:
        self._config = config

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Nothing to check: KafkaConfig has checked the value."""

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """The next look for expired producers goes by the new time."""
        old_ms, new_ms = self._config.producer_id_expiration_ms, new_config.producer_id_expiration_ms
        logger.info("Reconfigure producer.id.expiration.ms from %d to %d", old_ms, new_ms)
        self._config.producer_id_expiration_ms = new_ms


class DynamicConnectionQuotas:
    """A BrokerReconfigurable for the ConnectionQuotas. Any limit will do: connections that are there stay."""

    reconfigurable_configs = frozenset({"max.connections.per.ip", "max.connections.per.ip.overrides"})

    def __init__(self, connection_quotas: ConnectionQuotas) -> None:
        self._connection_quotas = connection_quotas

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Nothing to check: KafkaConfig has checked the values."""

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """New connections meet the new limits."""
        self._connection_quotas.update(new_config.max_connections_per_ip, new_config.max_connections_per_ip_overrides)
