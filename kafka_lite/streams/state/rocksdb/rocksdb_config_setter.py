"""Lets an application tune the RocksDB of its stores.

Kafka 0.10.2: streams/.../state/RocksDBConfigSetter.java · book 9.1.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

CONFIG_SETTER = "rocksdb.config.setter"


class RocksDBConfigSetter(ABC):
    """Named by ``rocksdb.config.setter``. An object of it is made for every database that is opened."""

    @abstractmethod
    def set_config(self, store_name: str, options: Any, configs: Mapping[str, object]) -> None:
        """Change ``options``, a ``rocksdict.Options`` with Kafka's defaults. ``configs`` is the application's."""
