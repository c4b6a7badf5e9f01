"""Free ports for servers that need several in a row."""

from __future__ import annotations

from kafka_lite.server.broker_process import PORTS, free_port, takes_connections


def consecutive_ports(count: int) -> int:
    """The first of ``count`` free ports in a row. Ask for other ports before: they might be among these."""
    for _ in PORTS:
        first = free_port()
        if not any(takes_connections(first + number) for number in range(count)):
            return first
    raise AssertionError("no free ports")
