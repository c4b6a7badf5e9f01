"""Looks up values of configurations.

Kafka 2.0: clients/.../common/config/provider/ConfigProvider.java; AllowedPaths.java: Kafka 3.5 · book 1.4.1
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from pathlib import Path

from kafka_lite.common.config_def import ConfigError

logger = logging.getLogger(__name__)

ALLOWED_PATHS = "allowed.paths"


class ConfigProvider(ABC):
    """Keeps values by path and key. Thread-safe."""

    def configure(self, configs: Mapping[str, str]) -> None:  # noqa: B027  a hook
        """Take the configuration: the keys after ``config.providers.NAME.param.``. Raises ConfigError."""

    @abstractmethod
    def get(self, path: str, keys: Collection[str]) -> dict[str, str]:
        """The values of those of the keys that there are. Raises ConfigError if they cannot be read."""


class AllowedPaths:
    """The files and folders that a provider may read; all of them without ``allowed.paths``."""

    def __init__(self, configs: Mapping[str, str]) -> None:
        """Raises ConfigError for a path that is not absolute, or not there."""
        texts = [text.strip() for text in configs.get(ALLOWED_PATHS, "").split(",") if text.strip()]
        self._allowed = [Path(text) for text in texts]
        for path in self._allowed:
            if not path.is_absolute():
                raise ConfigError(ALLOWED_PATHS, path, "must be an absolute path")
            if not path.exists():
                raise ConfigError(ALLOWED_PATHS, path, "does not exist")

    def parse(self, path: str) -> Path | None:
        """The path, if it may be read. Links and ``..`` do not lead out of what is allowed."""
        resolved = Path(path).resolve()
        if not self._allowed or any(resolved.is_relative_to(allowed.resolve()) for allowed in self._allowed):
            return resolved
        logger.warning("The path %s is not allowed to be accessed", path)
        return None
