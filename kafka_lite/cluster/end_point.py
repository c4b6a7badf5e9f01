"""The address of one listener of a broker.

Kafka 0.10.2: core/.../cluster/EndPoint.scala, BrokerEndPoint.scala · book 7.3.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.security_protocol import SecurityProtocol

# NAME://host:port, NAME://:port (all interfaces) or NAME://[ipv6]:port
_URI = re.compile(
    r"^(?P<name>[A-Za-z0-9_.-]+)://(?:\[(?P<ipv6>[0-9A-Fa-f:.%]*)\]|(?P<host>[^/:\[\]]*)):(?P<port>-?[0-9]{1,10})$"
)

DEFAULT_SECURITY_PROTOCOL_MAP = {protocol.name: protocol for protocol in SecurityProtocol}
"""A listener that is named after a protocol uses that protocol."""


class EndPointError(KafkaError):
    """A listener that is not written as ``NAME://host:port`` or names an unknown listener."""


@dataclass(frozen=True)
class EndPoint:
    """A listener: its name (upper case), its protocol and its address; host "" means every interface."""

    host: str
    port: int
    listener_name: str
    security_protocol: SecurityProtocol

    @staticmethod
    def parse(uri: str, protocols: Mapping[str, SecurityProtocol] | None = None) -> EndPoint:
        """From ``NAME://host:port``; ``protocols`` maps listener names (``listener.security.protocol.map``).

        Raises EndPointError.
        """
        protocols = DEFAULT_SECURITY_PROTOCOL_MAP if protocols is None else protocols
        match = _URI.match(uri.strip())
        if match is None:
            raise EndPointError(f"Unable to parse {uri} to a broker endpoint: must be NAME://host:port")
        name, port = match["name"].upper(), int(match["port"])
        if name not in protocols:
            raise EndPointError(
                f"No security protocol defined for listener {name}: not in listener.security.protocol.map"
            )
        if not 0 <= port <= 65535:
            raise EndPointError(f"Unable to parse {uri} to a broker endpoint: the port must be from 0 to 65535")
        return EndPoint(match["ipv6"] or match["host"] or "", port, name, protocols[name])

    @property
    def connection_string(self) -> str:
        """``NAME://host:port``, as in /brokers/ids."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener_name}://{host}:{self.port}"

    def __str__(self) -> str:
        return self.connection_string
