"""Keys that are validated but have no effect, because their part of the broker is not implemented yet.

Kafka 0.10.2: core/.../server/KafkaConfig.scala · book 2.3.4
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.config.security_configs import AUTHORIZERS

NOT_YET_APPLIED: dict[str, tuple[str, ...]] = {
    "security": (
        "principal.builder.class",
        "sasl.kerberos.kinit.cmd",
        "sasl.kerberos.min.time.before.relogin",
        "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.ticket.renew.window.factor",
        "ssl.endpoint.identification.algorithm",
        "ssl.keymanager.algorithm",
        "ssl.protocol",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
    ),
}
"""The missing part → its keys, of the broker and of topics. An entry that ends in a dot is a prefix.

These keys are accepted so that Kafka's ``server.properties`` works unchanged; setting one logs a warning.
"""

JAVA_PACKAGES = ("kafka.", "org.apache.kafka.")
"""Kafka's own classes, which need Java."""

UNSERVED: dict[str, tuple[object, str]] = {
    "create.topic.policy.class.name": (
        None,
        "policies are not supported yet, and if the key were ignored, every topic would be accepted",
    ),
}
"""Keys that must keep this value, because accepting and ignoring any other one would be misleading."""


def part_to_come(key: str) -> str | None:
    """The missing part that a key belongs to; None if the key has an effect."""
    for part, entries in NOT_YET_APPLIED.items():
        if any(key == entry or (entry.endswith(".") and key.startswith(entry)) for entry in entries):
            return part
    return None


def require_served(values: Mapping[str, Any]) -> None:
    """Raise ConfigError for a value that is not supported, and would mislead if it were ignored."""
    name = "authorizer.class.name"
    if values[name] not in AUTHORIZERS and values[name].startswith(JAVA_PACKAGES):
        raise ConfigError(name, values[name], f"valid: {' or '.join(AUTHORIZERS)}, or a Python class of your own")
    for name, (only, reason) in UNSERVED.items():
        if values[name] != only:
            raise ConfigError(name, values[name], f"only {only!r} is supported: {reason}")
