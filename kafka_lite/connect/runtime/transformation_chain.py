"""The transformations of a connector, one after the other.

Kafka 0.10.2: connect/runtime/.../connect/runtime/TransformationChain.java · book 8.3.5
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from kafka_lite.connect.api.connect_record import ConnectRecord
from kafka_lite.connect.api.transformation import Transformation

R = TypeVar("R", bound=ConnectRecord)


class TransformationChain:
    """Each gets what the one before it returned."""

    def __init__(self, transformations: Sequence[Transformation] = ()) -> None:
        self._transformations = transformations

    def apply(self, record: R) -> R | None:
        """The changed record; None if a transformation drops it. Raises what they raise."""
        changed: R | None = record
        for transformation in self._transformations:
            if changed is None:
                break
            changed = transformation.apply(changed)
        return changed

    def close(self) -> None:
        """Close all of them."""
        for transformation in self._transformations:
            transformation.close()
