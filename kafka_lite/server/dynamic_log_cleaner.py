"""Gives the log cleaner its configuration while it runs: ``log.cleaner.threads`` and the like.

Kafka 1.1: core/.../log/LogCleaner.scala (reconfigurableConfigs) · book 6.1.6
"""

from __future__ import annotations

from kafka_lite.log.log_cleaner import LogCleaner
from kafka_lite.server.kafka_config import KafkaConfig


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
        """Raises ConfigError when it would be less than half the threads, more than twice as many, or none."""
        self._log_cleaner.validate_reconfiguration(new_config.cleaner_config())

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """New threads take the place of the old ones; what these were cleaning begins again from its checkpoint."""
        self._log_cleaner.reconfigure(new_config.cleaner_config())
