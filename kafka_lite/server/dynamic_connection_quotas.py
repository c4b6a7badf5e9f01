"""Gives the socket server other limits of connections while it runs: ``max.connections.per.ip`` and its overrides.

Kafka 2.0: core/.../network/SocketServer.scala (reconfigurableConfigs) · book 2.3.1
"""

from __future__ import annotations

from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.server.kafka_config import KafkaConfig


class DynamicConnectionQuotas:
    """A BrokerReconfigurable for the ConnectionQuotas. Any limit will do: connections that are there stay."""

    reconfigurable_configs = frozenset({"max.connections.per.ip", "max.connections.per.ip.overrides"})

    def __init__(self, connection_quotas: ConnectionQuotas) -> None:
        self._connection_quotas = connection_quotas

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        """Nothing to ask: KafkaConfig has judged the values."""

    def reconfigure(self, new_config: KafkaConfig) -> None:
        """New connections meet the new limits."""
        self._connection_quotas.update(new_config.max_connections_per_ip, new_config.max_connections_per_ip_overrides)
