"""What of a broker's configuration can change while it runs.

Kafka 0.10.2: core/.../server/DynamicConfig.scala (Broker); later DynamicBrokerConfig.scala · book 10.1
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Range, Type
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF

_UNLIMITED = (1 << 63) - 1

DYNAMIC_BROKER_CONFIGS = (
    ConfigDef()
    .define(
        "leader.replication.throttled.rate",
        Type.LONG,
        _UNLIMITED,
        Importance.MEDIUM,
        "Bytes per second that this broker sends to throttled followers (leader.replication.throttled.replicas).",
        Range.at_least(0),
    )
    .define(
        "follower.replication.throttled.rate",
        Type.LONG,
        _UNLIMITED,
        Importance.MEDIUM,
        "Bytes per second that this broker fetches as a throttled follower (follower.replication.throttled.replicas).",
        Range.at_least(0),
    )
)
"""All keys that ZooKeeper's /config/brokers may override; any other key needs a restart."""


def validate_dynamic_configs(config: Mapping[str, str]) -> None:
    """Raise ConfigError for a key that cannot be changed while the broker runs, or a bad value."""
    fixed = DYNAMIC_BROKER_CONFIGS.unused(config)
    if fixed:
        known = all(name in KAFKA_CONFIG_DEF for name in fixed)
        reason = "Cannot update these configs dynamically" if known else "Unknown broker configs"
        raise ConfigError(fixed[0], config[fixed[0]], f"{reason}: {', '.join(fixed)}")
    DYNAMIC_BROKER_CONFIGS.parse(config)


class DynamicBrokerConfig:
    """The overrides that hold now: this broker's own, and those of all brokers. Safe to use from any thread."""

    def __init__(self, broker_id: int) -> None:
        self.broker_id = broker_id
        self._lock = threading.Lock()
        self._broker: dict[str, str] = {}
        self._default: dict[str, str] = {}

    @property
    def broker_configs(self) -> dict[str, str]:
        """Overrides of this broker."""
        with self._lock:
            return dict(self._broker)

    @property
    def default_configs(self) -> dict[str, str]:
        """Overrides of all brokers that have none of their own."""
        with self._lock:
            return dict(self._default)

    def update_broker(self, config: Mapping[str, str]) -> None:
        """What /config/brokers/N says now."""
        with self._lock:
            self._broker = {name: value for name, value in config.items() if name in DYNAMIC_BROKER_CONFIGS}

    def update_default(self, config: Mapping[str, str]) -> None:
        """What ``/config/brokers/<default>`` says now."""
        with self._lock:
            self._default = {name: value for name, value in config.items() if name in DYNAMIC_BROKER_CONFIGS}
