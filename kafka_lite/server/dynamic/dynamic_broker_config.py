"""The part of a broker's configuration that can change while it runs.

Kafka 0.10.2: core/.../server/DynamicConfig.scala (Broker); later DynamicBrokerConfig.scala · book 10.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from kafka_lite.admin.admin_utils import DEFAULT_ENTITY
from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Range, Type
from kafka_lite.common.errors import Errors
from kafka_lite.network.acceptor import Listener
from kafka_lite.network.socket_server import SocketServer
from kafka_lite.server.dynamic.broker_reconfigurable import (
    THREAD_POOL_CONFIGS,
    BrokerReconfigurable,
    DynamicConnectionQuotas,
    DynamicLogCleaner,
    DynamicLogConfig,
    DynamicProducerStateManagerConfig,
)
from kafka_lite.server.dynamic.dynamic_listener_stores import (
    DynamicListenerStores,
    dynamic_listener_stores,
    is_listener_store,
    listener_store_key,
)
from kafka_lite.server.dynamic.lock_outs import lock_out
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF, KafkaConfig
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

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
    .define(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        Type.LONG,
        _UNLIMITED,
        Importance.MEDIUM,
        "Bytes per second that this broker copies from one log directory to another.",
        Range.at_least(0),
    )
)
"""Keys that can only be set on running brokers: ``server.properties`` does not have them."""

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
    """Raise ConfigError for a key that cannot be changed while the broker runs, or a bad value.

    Any value of a custom config is fine. Of a listener's own keys, only those of its stores can change.
    """
    stores = {name: value for name, value in config.items() if is_listener_store(name)}
    unknown = [name for name in DYNAMIC_BROKER_CONFIGS.unused(config) if name not in stores]
    fixed = [name for name in unknown if not is_custom(name)]
    if fixed:
        reason = f"Cannot update these configs dynamically: {', '.join(fixed)}"
        raise ConfigError(fixed[0], config[fixed[0]], reason)
    DYNAMIC_BROKER_CONFIGS.parse(config)
    for name, value in stores.items():
        listener_store_key(name).parse(value)


def is_custom(name: str) -> bool:
    """Whether Kafka does not know the key: it is kept, described, and handed to plugins."""
    return not (name in KAFKA_CONFIG_DEF or name in REPLICATION_THROTTLES or name.startswith("listener.name."))


class DynamicBrokerConfig:
    """The current configuration: ``server.properties`` with the overrides from ZooKeeper.

    ::

        /config/brokers/0            this broker's own ──┐  the strongest
        /config/brokers/<default>    all brokers' ───────┤
        server.properties            static ─────────────┴─> current_config ──> the parts that a change affects

    Parts that can be reconfigured register with ``add_broker_reconfigurable``. Each can veto an alteration before it is
    written to ZooKeeper, and is reconfigured when the notification from ZooKeeper arrives.

    Safe to use from any thread. Readers need no lock, since a change replaces the configuration as a whole: a request
    handler may be reading it while the pool of handlers is being resized.
    """

    def __init__(self, config: KafkaConfig) -> None:
        """``config`` is the static configuration; it never changes."""
        self._static_config = config
        self._current_config = config
        self._reconfigurables: list[BrokerReconfigurable] = []
        self._stores: list[DynamicListenerStores] = []
        self._update_lock = threading.Lock()
        self._broker: dict[str, str] = {}
        self._default: dict[str, str] = {}

    def initialize(self, zk_client: KafkaZkClient) -> None:
        """Apply the current overrides of ZooKeeper, before the parts of the broker that use them are created."""
        self.update_default(zk_client.get_entity_config(f"brokers/{DEFAULT_ENTITY}"))
        self.update_broker(zk_client.get_entity_config(f"brokers/{self.broker_id}"))

    def add_broker_reconfigurable(
        self, reconfigurable: BrokerReconfigurable, created_with: KafkaConfig | None = None
    ) -> None:
        """Register a part, which from now on validates and applies changes of its keys.

        ``created_with``: the configuration of the part. If it is outdated, the part is reconfigured at once.
        """
        with self._update_lock:
            self._reconfigurables = [*self._reconfigurables, reconfigurable]
            if created_with is not None and _has_changed(reconfigurable, created_with, self._current_config):
                reconfigurable.reconfigure(self._current_config)

    def add_sockets(self, server: SocketServer, listeners: Iterable[Listener]) -> None:
        """Register the limits of connections, and the key and trust stores of all listeners.

        A store whose file has been written is loaded with the next change of the broker's configuration, even if that
        changes no key of the store.
        """
        self.add_broker_reconfigurable(DynamicConnectionQuotas(server.connection_quotas, server.connection_rates))
        self._stores = dynamic_listener_stores(listeners)
        for each in self._stores:
            self.add_broker_reconfigurable(each)

    # -- current values ----------------------------------------------------------------------------------------------

    @property
    def broker_id(self) -> int:
        """The id of the broker that the configuration belongs to."""
        return self._static_config.broker_id

    @property
    def current_config(self) -> KafkaConfig:
        """The configuration with all overrides. Do not keep it: the next change replaces it."""
        return self._current_config

    def topic_defaults(self) -> dict[str, Any]:
        """Topic key -> current default for topics that do not override it."""
        return self._current_config.log_config_map()

    @property
    def broker_configs(self) -> dict[str, str]:
        """Overrides of this broker."""
        return dict(self._broker)

    @property
    def default_configs(self) -> dict[str, str]:
        """Overrides for all brokers that have none of their own."""
        return dict(self._default)

    # -- changes -----------------------------------------------------------------------------------------------------

    def validate(self, config: Mapping[str, str], *, per_broker: bool) -> None:
        """Raise ConfigError unless this broker could apply these overrides, its own or those of all brokers.

        Raises INVALID_CONFIG for those after which nobody could connect any more.

        Keys and values are checked first, then the resulting configuration, then the change from the current one.
        """
        validate_dynamic_configs(config)
        of_listeners = [name for name in config if is_listener_store(name)]
        if of_listeners and not per_broker:
            text = "Cannot update these configs at default cluster level, broker id must be specified"
            raise ConfigError(of_listeners[0], config[of_listeners[0]], f"{text}: {', '.join(of_listeners)}")
        default, broker = (self._default, config) if per_broker else (config, self._broker)
        new = self._with_overrides(default, broker)
        self._concerned(new)
        for stores in self._stores:
            if stores.has_changed_files and stores.reconfigurable_configs & config.keys():
                stores.validate_reconfiguration(new)
        reason = lock_out(config)
        if reason is not None:
            raise Errors.INVALID_CONFIG.exception(reason)

    def update_broker(self, config: Mapping[str, str]) -> None:
        """Apply the new overrides of /config/brokers/N."""
        with self._update_lock:
            self._broker = _usable(config)
            self._update_current_config()

    def update_default(self, config: Mapping[str, str]) -> None:
        """Apply the new overrides of ``/config/brokers/<default>``."""
        with self._update_lock:
            self._default = _usable(config)
            self._update_current_config()

    def _update_current_config(self) -> None:
        """Apply the overrides. One that a part rejects was not written by a broker, and is only logged.

        A part that fails is logged as well; the other parts are still reconfigured.
        """
        try:
            new = self._with_overrides(self._default, self._broker)
            concerned = self._concerned(new)
            concerned += [stores for stores in self._rewritten(new) if stores not in concerned]
        except ConfigError as error:
            logger.error("Cannot apply the dynamic configuration of broker %d: %s", self.broker_id, error)
            return
        self._current_config = new
        for reconfigurable in concerned:
            try:
                reconfigurable.reconfigure(new)
            except Exception:
                keys = ", ".join(sorted(reconfigurable.reconfigurable_configs))
                logger.exception("Part of broker %d could not be reconfigured: %s", self.broker_id, keys)

    def _with_overrides(self, default: Mapping[str, str], broker: Mapping[str, str]) -> KafkaConfig:
        overrides = {name: value for name, value in {**default, **broker}.items() if _is_of_the_broker(name)}
        new = KafkaConfig({**self._static_config.original, **overrides}, do_log=False)
        new.broker_id = self.broker_id  # it may have been generated
        return new

    def _rewritten(self, new: KafkaConfig) -> list[DynamicListenerStores]:
        """The stores whose files have been written, and can be loaded. One that cannot must not hold up other keys."""
        found = []
        for stores in self._stores:
            if stores.has_changed_files:
                try:
                    stores.validate_reconfiguration(new)
                    found.append(stores)
                except ConfigError as error:
                    logger.error("Cannot reload a store of broker %d: %s", self.broker_id, error)
        return found

    def _concerned(self, new: KafkaConfig) -> list[BrokerReconfigurable]:
        """The parts that this configuration affects. Raises ConfigError if one of them rejects it."""
        concerned = [part for part in self._reconfigurables if _has_changed(part, self._current_config, new)]
        for reconfigurable in concerned:
            reconfigurable.validate_reconfiguration(new)
        return concerned


def _has_changed(reconfigurable: BrokerReconfigurable, old: KafkaConfig, new: KafkaConfig) -> bool:
    return any(_value(new, key) != _value(old, key) for key in reconfigurable.reconfigurable_configs)


def _value(config: KafkaConfig, key: str) -> object:
    """The value of a key; that of a listener's own key is as it was given."""
    return config.values[key] if key in config.values else config.original.get(key)


def _is_of_the_broker(name: str) -> bool:
    return name in KAFKA_CONFIG_DEF or is_listener_store(name) or is_custom(name)


def _usable(config: Mapping[str, str]) -> dict[str, str]:
    """The overrides that can be applied: clients of ZooKeeper can write anything there."""
    usable: dict[str, str] = {}
    for name, value in config.items():
        try:
            validate_dynamic_configs({name: value})
            reason = lock_out({name: value})
            if reason is not None:
                raise ConfigError(name, value, reason)
            usable[name] = value
        except ConfigError as error:
            logger.error("Ignoring a dynamic configuration: %s", error)
    return usable
