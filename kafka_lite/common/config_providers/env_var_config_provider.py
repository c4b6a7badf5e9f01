"""Looks up environment variables: ``${env:PASSWORD}``.

Kafka 3.5: clients/.../common/config/provider/EnvVarConfigProvider.java · book 1.4.1
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.config_providers.config_provider import ConfigProvider

ALLOWLIST_PATTERN = "allowlist.pattern"


class EnvVarConfigProvider(ConfigProvider):
    """It has no paths."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """By default the environment of the process."""
        self._environment = os.environ if environment is None else environment
        self._allowed = re.compile(".*", re.DOTALL)

    def configure(self, configs: Mapping[str, str]) -> None:
        """``allowlist.pattern``: a regular expression that the whole name has to match."""
        pattern = configs.get(ALLOWLIST_PATTERN)
        if pattern is not None:
            try:
                self._allowed = re.compile(pattern)
            except re.error as error:
                raise ConfigError(ALLOWLIST_PATTERN, pattern, f"Not a regular expression: {error}") from error

    def get(self, path: str, keys: Collection[str]) -> dict[str, str]:
        """The values of variables."""
        if path:
            message = f"Path is not supported for EnvVarConfigProvider, invalid value '{path}'"
            raise ConfigError("config.providers", path, message)
        return {key: self._environment[key] for key in keys if key in self._environment and self._is_allowed(key)}

    def _is_allowed(self, key: str) -> bool:
        return self._allowed.fullmatch(key) is not None
