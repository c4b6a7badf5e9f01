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
from kafka_lite.network.connection_rate_quotas import ConnectionRateQuotas
from kafka_lite.server.config.server_topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kafka_lite.server.kafka_config import KafkaConfig

logger = logging.getLogger(__name__)


class BrokerReconfigurable(Protocol):
    """A part that first validates a new configuration and then applies it."""

    @property
    def reconfigurable_configs(self) -> frozenset[str]:
        """The keys that affect this part; changes of other keys are ignored."""
        ...

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Raise ConfigError if the part cannot apply this configuration, or it is too far from the current one."""
        ...

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Apply the new configuration."""
        ...


THREAD_POOL_CONFIGS = frozenset({"num.io.threads", "num.recovery.threads.per.data.dir", "background.threads"})
"""The keys that set the size of a pool.

``num.replica.fetchers`` is missing, since partitions do not move between fetcher threads yet, and so is
``num.network.threads``: when Kafka ends a network thread, it also closes the connections with their requests in flight.
"""


class DynamicThreadPool:
    """A BrokerReconfigurable for one thread pool.

    Allows only small steps, so that a typing error cannot start thousands of threads or leave a busy broker with one.
    """

    def __init__(self, key: str, resize: Callable[[int], None], config: KafkaConfig) -> None:
        """``key`` of THREAD_POOL_CONFIGS; ``resize`` changes the pool's size; ``config`` has its initial size."""
        self.reconfigurable_configs = frozenset({key})
        self._key = key
        self._resize = resize
        self._size: int = config.values[key]

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Raise ConfigError if there would be fewer than half the threads, or more than twice as many."""
        key, old, new = self._key, self._size, new_config.values[self._key]
        failed = f"Dynamic thread count update validation failed for {key}={new}"
        if new < old // 2:
            raise ConfigError(key, new, f"{failed}, value should be at least half the current value {old}")
        if new > old * 2:
            raise ConfigError(key, new, f"{failed}, value should not be greater than double the current value {old}")

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Resize the pool. New threads start at once; surplus ones end once they have finished their work."""
        size = new_config.values[self._key]
        logger.info("Resizing %s from %d to %d threads", self._key, self._size, size)
        self._resize(size)
        self._size = size


NON_RECONFIGURABLE_LOG_CONFIGS = frozenset({"message.format.version"})
"""Topic keys whose broker key cannot be changed, because all brokers would have to support the new format first."""


class DynamicLogConfig:
    """A BrokerReconfigurable for the LogManager: changes all logs at once, except for keys that their topics override.

    A new segment size, retention time or compression type applies from the next append or retention check.
    """

    reconfigurable_configs = frozenset(
        broker_keys[0].name
        for topic_key, broker_keys in TOPIC_CONFIG_SYNONYMS.items()
        if topic_key not in NON_RECONFIGURABLE_LOG_CONFIGS
    )
    """For keys of the same value (``log.retention.ms``, ``.minutes``, ``.hours``), only the strongest, as in Kafka."""

    def __init__(self, log_manager: LogManager, on_unclean_leader_election_enabled: Callable[[], None]) -> None:
        """The callback is the controller's: partitions without a leader may get one."""
        self._log_manager = log_manager
        self._on_unclean_leader_election_enabled = on_unclean_leader_election_enabled

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """No-op: KafkaConfig has already validated the values and the rules between them."""

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Apply the new defaults to all logs, except for keys that their topics override."""
        old, new = self._log_manager.configs.default, LogConfig({}, new_config.log_config_map())
        self._log_manager.update_default_config(new)
        if new.unclean_leader_election_enable and not old.unclean_leader_election_enable:
            self._on_unclean_leader_election_enabled()


class DynamicLogCleaner:
    """A BrokerReconfigurable for the LogCleaner, which has a configuration of its own."""

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
        """Raise ConfigError if there would be fewer than half the threads, more than twice as many, or none."""
        self._log_cleaner.validate_reconfiguration(new_config.cleaner_config())

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Replace the threads by new ones. Interrupted cleanings start again at their checkpoints."""
        self._log_cleaner.reconfigure(new_config.cleaner_config())


class DynamicProducerStateManagerConfig:
    """A BrokerReconfigurable for the configuration that all logs share. Any values are valid."""

    reconfigurable_configs = frozenset({"producer.id.expiration.ms", "transaction.partition.verification.enable"})

    def __init__(self, config: ProducerStateManagerConfig) -> None:
        self._config = config

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """No-op: KafkaConfig has already validated the value."""

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Use the new time from the next check for expired producers on, and verify from the next batch on, or not."""
        old_ms, new_ms = self._config.producer_id_expiration_ms, new_config.producer_id_expiration_ms
        if old_ms != new_ms:
            logger.info("Reconfigure producer.id.expiration.ms from %d to %d", old_ms, new_ms)
            self._config.producer_id_expiration_ms = new_ms
        old, new = self._config.transaction_verification_enabled, new_config.transaction_partition_verification_enable
        if old is not new:
            logger.info("Reconfigure transaction.partition.verification.enable from %s to %s", old, new)
            self._config.transaction_verification_enabled = new


class DynamicConnectionQuotas:
    """A BrokerReconfigurable for the limits of connections. Any is valid: existing connections are kept."""

    reconfigurable_configs = frozenset(
        {"max.connections.per.ip", "max.connections.per.ip.overrides", "max.connection.creation.rate"}
    )

    def __init__(self, connection_quotas: ConnectionQuotas, connection_rates: ConnectionRateQuotas) -> None:
        self._connection_quotas = connection_quotas
        self._connection_rates = connection_rates

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """No-op: KafkaConfig has already validated the values."""

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Apply the new limits to new connections."""
        self._connection_quotas.update(new_config.max_connections_per_ip, new_config.max_connections_per_ip_overrides)
        self._connection_rates.update_broker_rate(new_config.max_connection_creation_rate)
