"""Keys of TLS and SASL that one listener or port has, with its prefix, beside those of all of them.

Kafka 1.0: clients/.../common/config/AbstractConfig.java (valuesWithPrefixOverride)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigError, ConfigKey


def values_with_prefix_override(
    values: Mapping[str, Any], original: Mapping[str, object], prefix: str, keys: Mapping[str, ConfigKey]
) -> dict[str, Any]:
    """The values, but for those of ``keys`` that ``original`` also has with the prefix.

    Raises ConfigError, which names the whole key.
    """
    found = dict(values)
    for name, key in keys.items():
        if prefix + name in original:
            try:
                found[name] = key.parse(original[prefix + name])
            except ConfigError as error:
                shown = "[hidden]" if key.is_sensitive else original[prefix + name]
                raise ConfigError(prefix + name, shown, str(error).partition(": ")[2]) from None
    return found
