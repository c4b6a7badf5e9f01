"""Changes of a running broker's configuration after which nobody could connect to change it back.

Kafka 2.0: core/.../server/KafkaConfig.scala (zero for max.connections.per.ip needs an override) · book 2.3.1
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address

from kafka_lite.network.connection_quotas import addresses_of

AT_LEAST_ONE = ("max.connections.per.ip", "max.connection.creation.rate")
OVERRIDES = "max.connections.per.ip.overrides"


def lock_out(config: Mapping[str, str]) -> str | None:
    """Why these overrides, whose values are valid, would lock the operator out; None if they would not.

    With zero connections per address, or per second, no tool can undo the change, and it outlasts a restart. An address
    may have an exception of zero, but not the broker's own machine. ``server.properties``, which an operator can edit,
    allows all of it.
    """
    for name in AT_LEAST_ONE:
        if _is_zero(config.get(name, "")):
            return f"{name}={config[name]} would lock every client out, this one too. It must be at least 1"
    for entry in config.get(OVERRIDES, "").split(","):
        host, _, maximum = entry.strip().rpartition(":")
        if host and _is_zero(maximum) and any(map(_is_loopback, addresses_of(host))):
            return f"{OVERRIDES} would lock clients of the broker's own machine out: {entry.strip()}"
    return None


def _is_zero(text: str) -> bool:
    return text.strip().isdecimal() and not text.strip().strip("0")


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:  # a name that is not known
        return False
