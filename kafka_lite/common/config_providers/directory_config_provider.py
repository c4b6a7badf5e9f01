"""Looks up values in the files of a folder: ``${directory:/run/secrets:password}``.

Kafka 2.8: clients/.../common/config/provider/DirectoryConfigProvider.java · book 1.4.1
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.config_providers.config_provider import AllowedPaths, ConfigProvider

logger = logging.getLogger(__name__)


class DirectoryConfigProvider(ConfigProvider):
    """A key is the name of a file, and its value is the file's whole text, a newline at the end included."""

    def __init__(self) -> None:
        self._paths = AllowedPaths({})

    def configure(self, configs: Mapping[str, str]) -> None:
        """``allowed.paths``: the folders that may be read."""
        self._paths = AllowedPaths(configs)

    def get(self, path: str, keys: Collection[str]) -> dict[str, str]:
        """The texts of files."""
        folder = self._paths.parse(path) if path else None
        if folder is None:
            return {}
        if not folder.is_dir():
            logger.warning("The path %s is not a directory", path)
            return {}
        try:
            files = [file for file in folder.iterdir() if file.name in keys and file.is_file()]
            return {file.name: file.read_text(encoding="utf-8") for file in files}
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError("config.providers", path, f"Could not read the files of directory {path}") from error
