"""Makes a pool of threads larger or smaller while the broker runs: ``num.io.threads`` and the like.

Kafka 1.1: core/.../server/DynamicBrokerConfig.scala (DynamicThreadPool) · book 2.3.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.kafka_config import KafkaConfig

logger = logging.getLogger(__name__)

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
        """Raises ConfigError when it would be less than half the threads, or more than twice as many."""
        key, old, new = self._key, self._size, new_config.values[self._key]
        failed = f"Dynamic thread count update validation failed for {key}={new}"
        if new < old // 2:
            raise ConfigError(key, new, f"{failed}, value should be at least half the current value {old}")
        if new > old * 2:
            raise ConfigError(key, new, f"{failed}, value should not be greater than double the current value {old}")

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Threads that are missing begin at once; those that are too many end when they have nothing at hand."""
        size = new_config.values[self._key]
        logger.info("Resizing the threads of %s from %d to %d", self._key, self._size, size)
        self._resize(size)
        self._size = size
