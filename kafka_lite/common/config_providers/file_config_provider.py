"""Looks up values in properties files: ``${file:/etc/secrets.properties:password}``.

Kafka 2.0: clients/.../common/config/provider/FileConfigProvider.java · book 1.4.1
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.config_providers.config_provider import AllowedPaths, ConfigProvider
from kafka_lite.common.properties import PropertiesError, load_properties

logger = logging.getLogger(__name__)


class FileConfigProvider(ConfigProvider):
    """The path is that of a file, which is read each time."""

    def __init__(self) -> None:
        self._paths = AllowedPaths({})

    def configure(self, configs: Mapping[str, str]) -> None:
        """``allowed.paths``: the files and folders that may be read."""
        self._paths = AllowedPaths(configs)

    def get(self, path: str, keys: Collection[str]) -> dict[str, str]:
        """The values of keys of a file."""
        file = self._paths.parse(path) if path else None
        if file is None:
            return {}
        try:
            found = load_properties(file)
        except (OSError, PropertiesError) as error:
            logger.error("Could not read properties from file %s: %s", path, error)
            raise ConfigError("config.providers", path, f"Could not read properties from file {path}") from error
        return {key: found[key] for key in keys if key in found}
