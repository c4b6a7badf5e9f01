"""A live broker: its id and where it listens.

Kafka 0.10.2: core/.../cluster/Broker.scala · book 7.3.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.cluster.end_point import DEFAULT_SECURITY_PROTOCOL_MAP, EndPoint, EndPointError
from kafka_lite.common.errors import Errors
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.zookeeper.data import BrokerRegistration, SupportedLevels
from kafka_lite.zookeeper.znode_json import ZnodeDataError

NO_FEATURES: Mapping[str, SupportedLevels] = MappingProxyType({})


@dataclass(frozen=True)
class Broker:
    """A broker, as every part of the cluster knows it."""

    id: int
    end_points: tuple[EndPoint, ...]
    rack: str | None = None

    def get_end_point(self, listener_name: str) -> EndPoint | None:
        """The address of a listener; None if the broker does not have it."""
        return next((e for e in self.end_points if e.listener_name == listener_name), None)

    def get_broker_end_point(self, listener_name: str) -> BrokerEndPoint:
        """Where other brokers reach this one. Raises ApiError BROKER_NOT_AVAILABLE if it does not have the listener."""
        found = self.get_end_point(listener_name)
        if found is None:
            message = f"End point with listener name {listener_name} not found for broker {self.id}"
            raise Errors.BROKER_NOT_AVAILABLE.exception(message)
        return BrokerEndPoint(self.id, found.host, found.port)

    @staticmethod
    def from_registration(broker_id: int, registration: BrokerRegistration) -> Broker:
        """From /brokers/ids/N. Raises ZnodeDataError."""
        try:
            own = {
                name: SecurityProtocol.for_name(p) for name, p in registration.listener_security_protocol_map.items()
            }
            protocols = own or DEFAULT_SECURITY_PROTOCOL_MAP
            end_points = tuple(EndPoint.parse(endpoint, protocols) for endpoint in registration.endpoints)
        except (EndPointError, ValueError) as error:
            raise ZnodeDataError(f"/brokers/ids/{broker_id}: {error}") from error
        return Broker(broker_id, end_points, registration.rack)

    def to_registration(
        self,
        *,
        jmx_port: int = -1,
        timestamp_ms: int = -1,
        version: int = 4,
        features: Mapping[str, SupportedLevels] = NO_FEATURES,
    ) -> BrokerRegistration:
        """For /brokers/ids/N, in a version that follows from ``inter.broker.protocol.version``."""
        plaintext = next((e for e in self.end_points if e.security_protocol is SecurityProtocol.PLAINTEXT), None)
        return BrokerRegistration(
            endpoints=tuple(e.connection_string for e in self.end_points),
            listener_security_protocol_map={e.listener_name: e.security_protocol.name for e in self.end_points},
            rack=self.rack,
            host=plaintext.host if plaintext else None,
            port=plaintext.port if plaintext else -1,
            jmx_port=jmx_port,
            timestamp_ms=timestamp_ms,
            version=version,
            features=features,
        )

    def __str__(self) -> str:
        return f"{self.id} : ({', '.join(map(str, self.end_points))}) : {self.rack}"
