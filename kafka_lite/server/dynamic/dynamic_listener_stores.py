"""The key and trust stores of a listener, which can be replaced while the broker runs.

Kafka 1.1: core/.../server/DynamicBrokerConfig.scala (DynamicSecurityConfigs, reloadUpdatedFilesWithoutConfigChange),
clients/.../common/security/ssl/SslFactory.java (reconfigure), KIP-226 · book 2.3.1
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol, Self, runtime_checkable

from kafka_lite.common.config_def import ConfigError, ConfigKey
from kafka_lite.network.acceptor import Listener
from kafka_lite.security.sasl_channel_builder import SaslServerChannelBuilder
from kafka_lite.server.config.listener_configs import listener_values
from kafka_lite.server.config.security_configs import SECURITY_CONFIGS
from kafka_lite.server.kafka_config import KafkaConfig

logger = logging.getLogger(__name__)

STORE_CONFIGS = ("ssl.keystore.location", "ssl.keystore.type", "ssl.truststore.location", "ssl.truststore.type")
"""Keys of a listener that can change. Passwords cannot: Kafka, too, wants ``password.encoder.secret`` for these, so
that ZooKeeper gets no plain text."""
_PREFIXED = re.compile(rf"listener\.name\.[^.]+\.(?P<key>{'|'.join(map(re.escape, STORE_CONFIGS))})")


def is_listener_store(name: str) -> bool:
    """Whether a key names a store of a single listener."""
    return _PREFIXED.fullmatch(name) is not None


def listener_store_key(name: str) -> ConfigKey:
    """The definition of such a key. It has no default: without it, the key of all listeners counts."""
    match = _PREFIXED.fullmatch(name)
    assert match is not None
    return replace(SECURITY_CONFIGS.keys[match["key"]], name=name, default=None)


@runtime_checkable
class ReloadableTls(Protocol):
    """The TLS contexts of a listener: SslFactory. (A page has no such class, since it has no module ssl.)"""

    subject: str

    @property
    def has_changed_files(self) -> bool:
        """Whether a store has been written since it was loaded."""
        ...

    def replacement(self, config: Mapping[str, Any]) -> Self:
        """The same with another configuration. Raises ConfigError."""
        ...

    def take_over(self, other: Self) -> None:
        """Use the other's keys and certificates for new connections."""
        ...


class DynamicListenerStores:
    """A BrokerReconfigurable for one listener. Connections that exist are not affected."""

    def __init__(self, listener_name: str, tls: ReloadableTls) -> None:
        self.reconfigurable_configs = frozenset(f"listener.name.{listener_name.lower()}.{key}" for key in STORE_CONFIGS)
        self._listener_name = listener_name
        self._tls = tls

    @property
    def has_changed_files(self) -> bool:
        """Whether a store has been written in place, which changes no key."""
        return self._tls.has_changed_files

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Raise ConfigError for stores that cannot be loaded, and for a certificate of another name."""
        new = self._replacement(new_config)
        if new.subject != self._tls.subject:
            name = f"listener.name.{self._listener_name.lower()}.ssl.keystore.location"
            text = f"Keystore DistinguishedName does not match: existing={self._tls.subject}, new={new.subject}"
            raise ConfigError(name, new_config.original.get(name), text)

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """Load the stores for new connections."""
        self._tls.take_over(self._replacement(new_config))
        logger.info("Reloaded the key and trust stores of the listener %s", self._listener_name)

    def _replacement(self, config: KafkaConfig) -> ReloadableTls:
        return self._tls.replacement(listener_values(config.values, config.original, self._listener_name))


def dynamic_listener_stores(listeners: Iterable[Listener]) -> list[DynamicListenerStores]:
    """One for each listener with TLS."""
    found = []
    for listener in listeners:
        builder = listener.channel_builder
        transports: object = builder.transports if isinstance(builder, SaslServerChannelBuilder) else builder
        if isinstance(transports, ReloadableTls):
            found.append(DynamicListenerStores(listener.name, transports))
    return found
