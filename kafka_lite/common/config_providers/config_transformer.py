"""Replaces references in configurations by the values of their providers.

Kafka 2.0: clients/.../common/config/ConfigTransformer.java · book 1.4.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.config_providers.config_provider import ConfigProvider

_REFERENCE = re.compile(r"\$\{(?P<provider>[^}]*?):((?P<path>[^}]*?):)?(?P<key>[^}]*?)\}")


class ConfigTransformer:
    """A reference may stand anywhere in a value::

        ${provider:path:key}      ${file:/etc/secrets.properties:password}
        ${provider:key}           ${env:PASSWORD}

    One of an unknown provider stays as it is, since other texts look alike. One without a value is an error, which
    names it; in Kafka it stays as it is, and is taken for a password.
    """

    def __init__(self, providers: Mapping[str, ConfigProvider]) -> None:
        self._providers = providers

    def transform(self, configs: Mapping[str, str]) -> dict[str, str]:
        """The configuration with values in place of references. Raises ConfigError."""
        return {key: self._replace(key, value) for key, value in configs.items()}

    def _replace(self, name: str, text: str) -> str:
        if "${" not in text or not self._providers:
            return text

        def value_of(match: re.Match[str]) -> str:
            provider = self._providers.get(match["provider"])
            if provider is None:
                return match[0]
            value = provider.get(match["path"] or "", {match["key"]}).get(match["key"])
            if value is None:
                raise ConfigError(name, text, f"The config provider {match['provider']} has no value for {match[0]}")
            return value

        return _REFERENCE.sub(value_of, text)

    def has_references(self, text: str) -> bool:
        """Whether a value refers to one of the providers."""
        return any(match["provider"] in self._providers for match in _REFERENCE.finditer(text))
