"""A serializer or deserializer that wraps another one, which may be the application's default.

Kafka 0.10.2: streams/.../processor/internals/SinkNode.java, SourceNode.java (init) · book 9.1.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from kafka_lite.common.serdes import Serde


class NeedsDefaultSerde(ABC):
    """A node tells it the default serde when a task starts."""

    @abstractmethod
    def use_default(self, serde: Serde[Any]) -> None:
        """Use the serde, unless another one was given. Called once for each task."""
