"""The registration of this broker in ZooKeeper, by which the controller knows that it is alive.

Kafka 0.10.2: core/.../server/KafkaHealthcheck.scala · book 7.4
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace

from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.cluster.features import SUPPORTED
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.time import Time
from kafka_lite.controller.feature_control import FEATURES_ARE_KNOWN
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

RACK_AWARE_VERSION = ApiVersion.parse("0.10.0-IV1")
"""From this version on, brokers write their rack and listener names to ZooKeeper."""

UNKNOWN_BROKER_EPOCH = -1


def registration_version(protocol: ApiVersion) -> int:
    """The version of ``/brokers/ids/N`` that brokers with this ``inter.broker.protocol.version`` write."""
    if protocol >= FEATURES_ARE_KNOWN:
        return 5
    return 4 if protocol >= RACK_AWARE_VERSION else 2


class KafkaHealthcheck:
    """Keeps the ephemeral znode ``/brokers/ids/N``, with the addresses at which clients reach this broker.

    A new session (the old one expired, perhaps because this process was suspended) registers again. The znode
    disappears with the session at the very end of a shutdown: a controller that was still running here would consider
    this broker dead, and empty the ISRs that the next start needs.
    """

    def __init__(
        self, config: KafkaConfig, zk_client: KafkaZkClient, bound_port: Callable[[str], int], time: Time
    ) -> None:
        """``bound_port`` returns the actual port of a listener."""
        self._config = config
        self._zk_client = zk_client
        self._bound_port = bound_port
        self._time = time
        self.broker_epoch = UNKNOWN_BROKER_EPOCH
        """The number of this registration (KIP-380): greater after each restart and each new session."""

    def startup(self) -> None:
        """Register, now and in every new session."""
        self._zk_client.add_session_listener(self.register)
        self.register()

    def local_broker(self) -> Broker:
        """This broker, with the addresses at which clients reach it."""
        config = self._config
        return Broker(config.broker_id, tuple(map(self._advertised, config.advertised_listeners)), config.rack)

    def register(self) -> None:
        """Create the znode."""
        config = self._config
        registration = self.local_broker().to_registration(
            timestamp_ms=self._time.milliseconds(),
            version=registration_version(config.inter_broker_protocol_version),
            features=SUPPORTED,
        )
        self._zk_client.register_broker(config.broker_id, registration)
        epoch = self._zk_client.get_broker_epoch(config.broker_id)
        self.broker_epoch = UNKNOWN_BROKER_EPOCH if epoch is None else epoch

    def _advertised(self, end_point: EndPoint) -> EndPoint:
        """A listener as clients see it: with the actual port instead of 0, and a host if it has none."""
        port = end_point.port or self._bound_port(end_point.listener_name)
        return replace(end_point, host=end_point.host or socket.getfqdn(), port=port)
