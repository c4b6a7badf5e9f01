"""The rates of new connections in a broker's configuration.

Kafka 2.7: core/.../network/SocketServer.scala (ListenerConnectionQuota.configure), KIP-612 · book 10.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.config_def import ConfigError
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.network.connection_rate_quotas import ConnectionRateConfig

MAX_CONNECTION_CREATION_RATE = "max.connection.creation.rate"


def connection_rate_config(
    values: Mapping[str, Any], original: Mapping[str, object], listeners: Sequence[EndPoint], inter_broker_listener: str
) -> ConnectionRateConfig:
    """The rates of the broker and its listeners.

    ``original`` has the keys of single listeners, which ``values``, the validated ones, does not. Raises ConfigError.
    """
    names = [listener.listener_name for listener in listeners]
    rates = {name: _listener_rate(name, original) for name in names}
    return ConnectionRateConfig(
        MetricConfig(values["quota.window.num"], values["quota.window.size.seconds"] * 1000),
        values[MAX_CONNECTION_CREATION_RATE],
        {name: rate for name, rate in rates.items() if rate is not None},
        inter_broker_listener if len(names) > 1 else None,
    )


def _listener_rate(name: str, original: Mapping[str, object]) -> int | None:
    key = f"listener.name.{name.lower()}.{MAX_CONNECTION_CREATION_RATE}"
    if (value := original.get(key)) is None:
        return None
    text = str(value).strip()
    if not text.isdecimal():
        raise ConfigError(key, value, "Not a number of at least 0")
    return int(text)
