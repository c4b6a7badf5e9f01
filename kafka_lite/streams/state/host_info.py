"""Where an instance of an application can be asked for its stores.

Kafka 0.10.2: streams/.../state/HostInfo.java · book 9.1.4
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_lite.streams.errors import TaskAssignmentError


class HostInfo(NamedTuple):
    """The ``application.server`` of an instance."""

    host: str
    port: int

    @classmethod
    def parse(cls, end_point: str | None) -> HostInfo | None:
        """``host:port``; None for no end point. Raises TaskAssignmentError for any other text."""
        if not end_point:
            return None
        host, _, port = end_point.rpartition(":")
        if not host or not port.isdecimal():
            raise TaskAssignmentError(f"Error parsing host address {end_point}. Expected format host:port.")
        return cls(host.removeprefix("[").removesuffix("]"), int(port))
