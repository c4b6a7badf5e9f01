"""Keys of one listener, which begin with its name, and those of one of its SASL mechanisms.

::

    ssl.client.auth=none                                            every listener
    listener.name.internal.ssl.client.auth=required                 the listener INTERNAL
    listener.name.internal.plain.sasl.jaas.config=…                 its mechanism PLAIN

Kafka 1.0: core/.../server/KafkaConfig.scala (valuesWithPrefixOverride), clients/.../common/network/ChannelBuilders.java
(channelBuilderConfigs), KIP-103 · book 2.3.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.security.prefixed_configs import values_with_prefix_override
from kafka_lite.server.config.security_configs import SECURITY_CONFIGS
from kafka_lite.server.config.socket_server_configs import SOCKET_SERVER_CONFIGS

MECHANISM_KEYS = (
    "sasl.jaas.config",
    "connections.max.reauth.ms",
    "sasl.server.max.receive.size",
    *(name for name in SECURITY_CONFIGS.keys if name.startswith("sasl.oauthbearer.")),
)
_LISTENER_KEYS = {
    **{name: key for name, key in SECURITY_CONFIGS.keys.items() if name.startswith(("ssl.", "sasl.", "connections."))},
    "max.connection.creation.rate": SOCKET_SERVER_CONFIGS.keys["max.connection.creation.rate"],
}
_PREFIXED = re.compile(r"listener\.name\.[^.]+\.(?P<rest>.+)")
METRICS_HTTP_PREFIX = "metrics.http."


def is_listener_key(name: str) -> bool:
    """Whether a key is one that a single listener, a mechanism of it, or the port of the metrics may have."""
    match = _PREFIXED.fullmatch(name)
    if match is None:
        of_port = name.removeprefix(METRICS_HTTP_PREFIX)
        return of_port != name and of_port.startswith("ssl.") and of_port in _LISTENER_KEYS
    rest = match["rest"]
    return rest in _LISTENER_KEYS or rest.partition(".")[2] in MECHANISM_KEYS


def listener_values(
    values: Mapping[str, Any], original: Mapping[str, object], listener_name: str, mechanism: str | None = None
) -> dict[str, Any]:
    """The values of a listener, or of a mechanism of it: those with its prefix come first. Raises ConfigError."""
    found = dict(values)
    prefixes = [f"listener.name.{listener_name.lower()}."]
    if mechanism is not None:
        prefixes.append(f"{prefixes[0]}{mechanism.lower()}.")
    for prefix in prefixes:
        found = values_with_prefix_override(found, original, prefix, _LISTENER_KEYS)
    return found
