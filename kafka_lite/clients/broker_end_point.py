"""A broker's id and the address of one of its listeners.

Kafka 0.10.2: core/.../cluster/BrokerEndPoint.scala · book 3.3.1
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafka_lite.common.errors import KafkaError

_HOST_AND_PORT = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.%]+)\]|(?P<host>[^:\[\]/]+)):(?P<port>[0-9]{1,10})")


class BrokerEndPoint(NamedTuple):
    """The destination of requests to a broker. Fetcher threads are keyed by it."""

    id: int
    host: str
    port: int

    @classmethod
    def parse(cls, broker_id: int, text: str) -> BrokerEndPoint:
        """Parse ``host:port``, with an IPv6 address in brackets. Raises KafkaError."""
        match = _HOST_AND_PORT.fullmatch(text.strip())
        if match is None or not 0 < int(match["port"]) < 65536:
            raise KafkaError(f"Unable to parse {text!r} to a broker endpoint: must be host:port")
        return cls(broker_id, match["ipv6"] or match["host"], int(match["port"]))

    @property
    def connection_string(self) -> str:
        """``host:port``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.connection_string} (id: {self.id})"
