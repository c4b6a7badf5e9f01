"""Changes records on their way, one at a time.

Kafka 0.10.2: connect/api/.../connect/transforms/Transformation.java; Predicate.java: Kafka 2.6 · book 8.3.3
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TypeVar

from kafka_lite.common.config_def import ConfigDef
from kafka_lite.connect.api.connect_record import ConnectRecord

R = TypeVar("R", bound=ConnectRecord)


class Transformation(ABC):
    """One transformation of a connector; several form a chain."""

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027  a hook
        """Take the configuration: the keys after ``transforms.ALIAS.``. Raises ConfigError."""

    def config(self) -> ConfigDef:
        """The keys of the transformation's configuration."""
        return ConfigDef()

    @abstractmethod
    def apply(self, record: R) -> R | None:
        """The changed record, or the same one; None drops it. Raises DataError."""

    def close(self) -> None:  # noqa: B027  a hook
        """The transformation is used no longer."""


class Predicate(ABC):
    """Decides which records a transformation is applied to."""

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027  a hook
        """Take the configuration: the keys after ``predicates.ALIAS.``. Raises ConfigError."""

    def config(self) -> ConfigDef:
        """The keys of the predicate's configuration."""
        return ConfigDef()

    @abstractmethod
    def test(self, record: ConnectRecord) -> bool:
        """Whether the predicate is true of the record."""

    def close(self) -> None:  # noqa: B027  a hook
        """The predicate is used no longer."""
