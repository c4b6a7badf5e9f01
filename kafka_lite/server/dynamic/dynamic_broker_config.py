"""What of a broker's configuration can change while it runs.

Kafka 0.10.2: core/.../server/DynamicConfig.scala (Broker); later DynamicBrokerConfig.scala · book 10.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any

from kafka_lite.admin.admin_utils import DEFAULT_ENTITY
from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Range, Type
from kafka_lite.server.config.not_yet_applied import part_to_come
from kafka_lite.server.dynamic.broker_reconfigurable import (
    THREAD_POOL_CONFIGS,
    BrokerReconfigurable,
    DynamicConnectionQuotas,
    DynamicLogCleaner,
    DynamicLogConfig,
    DynamicProducerStateManagerConfig,
)
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF, KafkaConfig
from kafka_lite.zookeeper.client import KafkaZkClient

logger = logging.getLogger(__name__)

_UNLIMITED = (1 << 63) - 1

REPLICATION_THROTTLES = (
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
"""Keys that can only be set while brokers run: ``server.properties`` does not know them."""

DYNAMIC_BROKER_CONFIGS = ConfigDef().include(REPLICATION_THROTTLES)
"""All keys that ZooKeeper's /config/brokers may override; any other key needs a restart."""
for _name in sorted(
    THREAD_POOL_CONFIGS
    | DynamicLogCleaner.reconfigurable_configs
    | DynamicLogConfig.reconfigurable_configs
    | DynamicProducerStateManagerConfig.reconfigurable_configs
    | DynamicConnectionQuotas.reconfigurable_configs
):
    DYNAMIC_BROKER_CONFIGS.keys[_name] = KAFKA_CONFIG_DEF.keys[_name]


def validate_dynamic_configs(config: Mapping[str, str]) -> None:
    """Raise ConfigError for a key that cannot be changed while the broker runs, or a bad value."""
    fixed = DYNAMIC_BROKER_CONFIGS.unused(config)
    if fixed:
        known = all(name in KAFKA_CONFIG_DEF for name in fixed)
        reason = "Cannot update these configs dynamically" if known else "Unknown broker configs"
        raise ConfigError(fixed[0], config[fixed[0]], f"{reason}: {', '.join(fixed)}")
    DYNAMIC_BROKER_CONFIGS.parse(config)


class DynamicBrokerConfig:
    """The configuration in force, and the overrides that distinguish it from ``server.properties``.

    ::

        /config/brokers/0            this broker's own ──┐  the strongest
        /config/brokers/<default>    all brokers' ───────┤
        server.properties            static ─────────────┴─> current_config ──> the parts that its change concerns

    A part of the broker that can change registers (``add_broker_reconfigurable``). It can veto an alteration before it
    is written to ZooKeeper, and hears of it when the notification has come back from there.

    Safe to use from any thread. Readers need no lock, since what changes is replaced as a whole: while the threads that
    handle requests are exchanged, one of them may be reading here.
    """

    def __init__(self, config: KafkaConfig) -> None:
        """``config`` is the static one; it never changes."""
        self._static_config = config
        self._current_config = config
        self._reconfigurables: list[BrokerReconfigurable] = []
        self._update_lock = threading.Lock()
        self._broker: dict[str, str] = {}
        self._default: dict[str, str] = {}

    def initialize(self, zk_client: KafkaZkClient) -> None:
        """Take over what ZooKeeper says now, before the parts of the broker that will go by it are made."""
        self.update_default(zk_client.get_entity_config(f"brokers/{DEFAULT_ENTITY}"))
        self.update_broker(zk_client.get_entity_config(f"brokers/{self.broker_id}"))

    def add_broker_reconfigurable(
        self, reconfigurable: BrokerReconfigurable, goes_by: KafkaConfig | None = None
    ) -> None:
        """From now on the part checks and applies changes of its keys.

        ``goes_by``: by what it was made, if that may no longer hold; then it is told at once.
        """
        with self._update_lock:
            self._reconfigurables = [*self._reconfigurables, reconfigurable]
            if goes_by is not None and _has_changed(reconfigurable, goes_by, self._current_config):
                reconfigurable.reconfigure(self._current_config)

    # -- what holds --------------------------------------------------------------------------------------------------

    @property
    def broker_id(self) -> int:
        """Whose configuration this is."""
        return self._static_config.broker_id

    @property
    def current_config(self) -> KafkaConfig:
        """With all overrides. Do not keep it: the next change makes another one."""
        return self._current_config

    def topic_defaults(self) -> dict[str, Any]:
        """Topic key -> the value in force for topics that do not override it."""
        return self._current_config.log_config_map()

    @property
    def broker_configs(self) -> dict[str, str]:
        """Overrides of this broker."""
        return dict(self._broker)

    @property
    def default_configs(self) -> dict[str, str]:
        """Overrides of all brokers that have none of their own."""
        return dict(self._default)

    # -- changes -----------------------------------------------------------------------------------------------------

    def validate(self, config: Mapping[str, str], *, per_broker: bool) -> None:
        """Raise ConfigError unless this broker could work with these overrides, of its own or of all brokers.

        Keys and values are judged first, then the configuration that comes out, then the step from the current one.
        """
        validate_dynamic_configs(config)
        default, broker = (self._default, config) if per_broker else (config, self._broker)
        self._concerned(self._with_overrides(default, broker))

    def update_broker(self, config: Mapping[str, str]) -> None:
        """What /config/brokers/N says now."""
        with self._update_lock:
            self._broker = _usable(config, self._broker)
            self._update_current_config()

    def update_default(self, config: Mapping[str, str]) -> None:
        """What ``/config/brokers/<default>`` says now."""
        with self._update_lock:
            self._default = _usable(config, self._default)
            self._update_current_config()

    def _update_current_config(self) -> None:
        """Apply the overrides. One that a part refuses was written without the brokers, and is only logged.

        So is the failure of a part: the others are told all the same.
        """
        try:
            new = self._with_overrides(self._default, self._broker)
            concerned = self._concerned(new)
        except ConfigError as error:
            logger.error("The dynamic configuration of broker %d could not be applied: %s", self.broker_id, error)
            return
        self._current_config = new
        for reconfigurable in concerned:
            try:
                reconfigurable.reconfigure(new)
            except Exception:
                keys = ", ".join(sorted(reconfigurable.reconfigurable_configs))
                logger.exception("A part of broker %d could not be reconfigured, that of %s", self.broker_id, keys)

    def _with_overrides(self, default: Mapping[str, str], broker: Mapping[str, str]) -> KafkaConfig:
        overrides = {name: value for name, value in {**default, **broker}.items() if name in KAFKA_CONFIG_DEF}
        new = KafkaConfig({**self._static_config.original, **overrides}, do_log=False)
        new.broker_id = self.broker_id  # it may have been generated
        return new

    def _concerned(self, new: KafkaConfig) -> list[BrokerReconfigurable]:
        """The parts that this configuration concerns. Raises ConfigError if one of them refuses it."""
        concerned = [part for part in self._reconfigurables if _has_changed(part, self._current_config, new)]
        for reconfigurable in concerned:
            reconfigurable.validate_reconfiguration(new)
        return concerned


def _has_changed(reconfigurable: BrokerReconfigurable, old: KafkaConfig, new: KafkaConfig) -> bool:
    return any(new.values[key] != old.values[key] for key in reconfigurable.reconfigurable_configs)


def _usable(config: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """The overrides that can be applied: clients of ZooKeeper can write anything there.

    Warns of what is new and has no effect yet, as KafkaConfig does.
    """
    usable: dict[str, str] = {}
    for name, value in config.items():
        try:
            validate_dynamic_configs({name: value})
            usable[name] = value
        except ConfigError as error:
            logger.error("Ignoring a dynamic configuration: %s", error)
    for name in usable:
        part = part_to_come(name)
        if part is not None and usable[name] != before.get(name):
            logger.warning("The configuration '%s' has no effect yet: %s is still to come.", name, part)
    return usable
