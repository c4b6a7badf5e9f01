"""Where a socket server listens.

Kafka 0.10.2: core/.../cluster/EndPoint.scala (what the network layer needs of it) · book 2.3.1
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Listener:
    """One entry of ``listeners``: an address, and the name under which clients and brokers speak of it."""

    host: str = ""
    """Name or address to bind; empty: all interfaces."""
    port: int = 0
    """TCP port; 0: the kernel chooses, ``SocketServer.bound_port`` tells."""
    name: str = "PLAINTEXT"
    security_protocol: str = "PLAINTEXT"
